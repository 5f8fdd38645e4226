import { execFileSync } from 'node:child_process'
import type { GitRepository } from './git-repository.ts'

/** A commit in the remote whose folder `prompts/z` has `width` to the power of `depth` paths, made of `depth` trees. */
export function commitNestedTrees(
  { remote }: GitRepository,
  { width, depth, parent, text }: { width: number; depth: number; parent: string; text: string },
): string {
  const write = (args: string[], input: string) =>
    execFileSync('git', args, { cwd: remote, input, stdio: 'pipe', maxBuffer: 2 ** 26 })
      .toString()
      .trim()
  const blob = write(['hash-object', '-w', '--stdin'], text)
  const names = Array.from({ length: width }, (_, i) => String(i).padStart(6, '0'))
  let tree = write(['mktree'], names.map((name) => `100644 blob ${blob}\tf${name}.md\n`).join(''))
  for (let level = 1; level < depth; level++) {
    tree = write(['mktree'], names.map((name) => `040000 tree ${tree}\td${name}\n`).join(''))
  }
  const prompts = write(['mktree'], `100644 blob ${blob}\tp.md\n040000 tree ${tree}\tz\n`)
  const root = write(['mktree'], `040000 tree ${prompts}\tprompts\n`)
  return commitRaw(remote, root, parent, 'Many paths')
}

/** A commit whose only file is `prompts/<name>`. */
export function commitFile(remote: string, parent: string, name: string, text: Buffer): string {
  const write = (args: string[], input: string | Buffer) =>
    execFileSync('git', args, { cwd: remote, input, stdio: 'pipe' }).toString().trim()
  const blob = write(['hash-object', '-w', '--stdin'], text)
  const prompts = write(['mktree'], `100644 blob ${blob}\t${name}\n`)
  return commitRaw(remote, write(['mktree'], `040000 tree ${prompts}\tprompts\n`), parent, name)
}

/** A commit with this tree and message, which may be too long for an argument. */
export function commitRaw(remote: string, tree: string, parent: string, message: string): string {
  const person = 'Ada Lovelace <ada@example.com> 1793491200 +0000'
  const input = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\n${message}`
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin']
  return execFileSync('git', args, { cwd: remote, input, stdio: 'pipe' }).toString().trim()
}
