import { fileMode, folderMode, GitObjects } from './git-objects.ts'
import type { GitRepository } from './git-repository.ts'

/** A commit in the remote whose folder `prompts/z` has `width` to the power of `depth` paths, made of `depth` trees. */
export function commitNestedTrees(
  { remote }: GitRepository,
  { width, depth, parent, text }: { width: number; depth: number; parent: string; text: string },
): string {
  const objects = new GitObjects(remote)
  const blob = { mode: fileMode, id: objects.write('blob', Buffer.from(text)) }
  const names = Array.from({ length: width }, (_, i) => String(i).padStart(6, '0'))
  let id = objects.writeTree(new Map(names.map((name) => [`f${name}.md`, blob])))
  for (let level = 1; level < depth; level++) {
    const folder = { mode: folderMode, id }
    id = objects.writeTree(new Map(names.map((name) => [`d${name}`, folder])))
  }
  const files = { 'prompts/p.md': blob, 'prompts/z': { mode: folderMode, id } }
  return commitRaw(remote, objects.writeTree(new Map(Object.entries(files))), parent, 'Many paths')
}

/** A commit whose only file is `prompts/<name>`. */
export function commitFile(remote: string, parent: string, name: string, text: Buffer): string {
  const objects = new GitObjects(remote)
  const blob = { mode: fileMode, id: objects.write('blob', text) }
  return commitRaw(remote, objects.writeTree(new Map([[`prompts/${name}`, blob]])), parent, name)
}

/** A commit with this tree and message, which may be too long for an argument. */
export function commitRaw(remote: string, tree: string, parent: string, message: string): string {
  const person = 'Ada Lovelace <ada@example.com> 1793491200 +0000'
  const text = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\n${message}`
  return new GitObjects(remote).write('commit', Buffer.from(text))
}
