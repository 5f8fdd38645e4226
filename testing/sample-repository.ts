import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

const git = promisify(execFile)
const firstCommit = Date.UTC(2024, 0) / 1_000

/** Generates a bare repository and returns the commits of its default branch, oldest first. */
export async function generateRepository(folder: string, commits: number, prompts: number): Promise<string[]> {
  await git('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder])
  const marks = join(folder, 'marks')
  const mainline: number[] = []
  const child = spawn('git', ['--git-dir', folder, 'fast-import', '--quiet', `--export-marks=${marks}`], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  await pipeline(Readable.from(history(commits, prompts, mainline)), child.stdin)
  const [code] = await exited
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
  await git('git', ['--git-dir', folder, 'pack-refs', '--all'])
  const shas = new Map((await readFile(marks, 'utf8')).split('\n').map((line) => line.split(' ') as [string, string]))
  return mainline.map((mark) => shas.get(`:${mark}`) as string)
}

/**
 * A team's history in the format of `git fast-import`. Every commit of the default branch changes a prompt: half are direct
 * pushes, a quarter merge two commits, a quarter are squashes, and every 250th moves a prompt.
 */
function* history(commits: number, prompts: number, mainline: number[]): Generator<string> {
  const paths = Array.from({ length: prompts }, (_, i) => `prompts/team-${i % 7}/prompt-${i}.md`)
  const versions = paths.map(() => 0)
  const change = (prompt: number) => file(paths[prompt] as string, text(prompt, ++(versions[prompt] as number)))
  const main = 'refs/heads/main'
  let mark = 0
  let pull = 0

  function commit(ref: string, message: string, [from, ...merged]: number[], changes: string): string {
    mark += 1
    const by = `Author ${mark % 17} <author${mark % 17}@example.com> ${firstCommit + mark * 600} +0000`
    return [
      `commit ${ref}\nmark :${mark}\nauthor ${by}\ncommitter ${by}\n${data(message)}`,
      from === undefined ? '' : `from :${from}\n`,
      ...merged.map((parent) => `merge :${parent}\n`),
      changes,
    ].join('')
  }

  yield commit(main, 'Start\n', [], paths.map((_, i) => change(i)).join('') + file('README.md', '# Prompts\n'))
  mainline.push(mark)
  while (mainline.length < commits) {
    const i = mainline.length
    const before = mainline.at(-1) as number
    const prompt = (i * 37) % prompts
    if (i % 250 === 0) {
      const path = paths[prompt] as string
      paths[prompt] = path.replace('prompts/', 'prompts/moved-')
      yield commit(main, `Move prompt ${prompt}\n`, [before], `R ${path} ${paths[prompt]}\n`)
    } else if (i % 2 === 0) {
      yield commit(main, `Change prompt ${prompt}\n\nUsers asked for it.\n`, [before], change(prompt))
    } else {
      pull += 1
      const ref = `refs/pull/${pull}/head`
      const [one, other] = [change((prompt + 1) % prompts), change(prompt)]
      yield commit(ref, `Work on one prompt\n`, [before], one)
      yield commit(ref, `Work on another\n`, [mark], other)
      const merge = `Merge pull request #${pull} from acme/work-${pull}\n\nChange prompts\n`
      const [message, parents] = i % 4 === 1 ? [merge, [before, mark]] : [`Change prompts (#${pull})\n`, [before]]
      yield commit(main, message, parents, one + other)
    }
    mainline.push(mark)
  }
}

function file(path: string, content: string): string {
  return `M 100644 inline ${path}\n${data(content)}`
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

/** Two kilobytes; each version changes one line. */
function text(prompt: number, version: number): string {
  const lines = Array.from({ length: 40 }, (_, line) => `${line + 1}. Answer question ${prompt} kindly and briefly.`)
  lines[version % lines.length] += ` Mind version ${version}.`
  return `# Prompt ${prompt}\n\n${lines.join('\n')}\n`
}
