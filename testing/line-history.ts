import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from '../server/src/domain/repositories/repository.ts'
import { alignDefaultBranch } from '../server/src/follow/mainline.ts'
import { lazyPlaces } from '../server/src/follow/sync-run.ts'
import { forgeOf } from '../server/src/forges/index.ts'
import { streamMessages } from '../server/src/git/log.ts'
import type { Mirror } from '../server/src/git/mirror.ts'
import { lazyPullRefs } from '../server/src/git/pull-refs.ts'
import { onTestEnd } from './cleanup.ts'

export interface LineOptions {
  forge?: Repository['forge']
  url?: string
  branch?: string
}

interface LineCommit {
  parents: number[]
  message: string
}

// The mirror also stands for the remote, which lists the heads of pull requests.
const localRemote = {
  credentials: null,
  deployKey: null,
  allowMachineKeys: false,
  allowLocal: true,
  allowRedirects: false,
  allowPrivate: true,
  allowHttp: false,
  hidesNetwork: false,
}

const startAt = Date.parse('2026-03-01T00:00:00Z') / 1_000

/** Commits without files, written in one go. Only their parents and messages matter. */
export class LineHistory {
  #commits: LineCommit[] = []
  #pulls = new Map<number, number>()
  readonly options: Required<LineOptions>

  constructor({ forge = 'github', url = 'https://example.com/acme/prompts.git', branch = 'main' }: LineOptions = {}) {
    this.options = { forge, url, branch }
  }

  /** Adds a commit and returns its number. Each is a minute newer than the one before. */
  commit(message: string, ...parents: number[]): number {
    return this.#commits.push({ message, parents })
  }

  /** Adds commits one after another, and returns the last. */
  commits(messages: string[], parent: number): number {
    return messages.reduce((last, message) => this.commit(message, last), parent)
  }

  /** Adds a pull request with one commit. */
  pull(number: number, base: number): number {
    const head = this.commit(`Pull ${number}`, base)
    this.#pulls.set(number, head)
    return head
  }

  /** Adds a pull request and its merge as GitHub writes it. */
  mergedPull(number: number, onto: number, base = onto): number {
    return this.commit(`Merge pull request #${number} from someone/branch`, onto, this.pull(number, base))
  }

  /** Writes all commits to a mirror. */
  write(): FollowedHistory {
    const folder = mkdtempSync(join(tmpdir(), 'promptledger-line-'))
    onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
    const mirror = join(folder, 'mirror.git')
    execFileSync('git', ['init', '--quiet', '--bare', mirror])
    const marks = join(folder, 'marks')
    const args = ['--git-dir', mirror, 'fast-import', '--quiet', '--force', `--export-marks=${marks}`]
    const refs = [...this.#pulls].map(([number, head]) => {
      const ref = forgeOf(this.options.forge).pullRef(number)
      return ref === null ? '' : `reset ${ref}\nfrom :${head}\n\n`
    })
    const input = [...this.#commits.map(importCommand), ...refs].join('')
    const { status, stderr } = spawnSync('git', args, { input })
    if (status !== 0) throw new Error(stderr.toString())
    const shas = new Map(
      readFileSync(marks, 'utf8')
        .matchAll(/^:(\d+) (\w+)$/gm)
        .map(([, mark, sha]) => [Number(mark), sha as string]),
    )
    return followHistory(mirror, shas, this.options)
  }
}

function importCommand({ parents: [first, ...merged], message }: LineCommit, i: number): string {
  return [
    ...(first === undefined ? ['reset refs/heads/any', ''] : []),
    'commit refs/heads/any',
    `mark :${i + 1}`,
    `committer Ada <ada@example.com> ${startAt + i * 60} +0000`,
    `data ${Buffer.byteLength(message)}`,
    message,
    ...(first === undefined ? [] : [`from :${first}`]),
    ...merged.map((parent) => `merge :${parent}`),
    '',
    '',
  ].join('\n')
}

export interface FollowedHistory {
  /** The folder of the mirror. */
  path: string
  shaOf(number: number): string
  /** Follows the default branch to this commit, as one sync does, and returns the commits that it went through, oldest first. */
  follow(tip: number): Promise<number[]>
}

function followHistory(
  path: string,
  shas: ReadonlyMap<number, string>,
  { forge, url, branch }: Required<LineOptions>,
): FollowedHistory {
  const numbers = new Map([...shas].map(([number, sha]) => [sha, number]))
  let recorded: string | null = null
  const shaOf = (number: number) => shas.get(number) as string
  return {
    path,
    shaOf,
    async follow(number) {
      const tip = shaOf(number)
      const repository = { forge, url, webUrl: null, tip: recorded } as Repository
      const pullRefs = lazyPullRefs({ ...localRemote, url: path }, forgeOf(forge).pullRefPattern)
      const places = lazyPlaces(repository)
      await alignDefaultBranch({ mirror: { path } as Mirror, tip, branch, pullRefs, places }, repository)
      recorded = tip
      const commits = await Array.fromAsync(streamMessages(path, ['--first-parent', tip]))
      return commits.map(({ sha }) => numbers.get(sha) as number).reverse()
    },
  }
}
