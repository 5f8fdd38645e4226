import type { Change } from './changes.ts'
import { withoutBraces } from './changes.ts'
import { type Clone, gitFields } from './git.ts'
import type { LineCommit } from './line.ts'

interface Person {
  name: string
  email: string
}

/**
 * The authors whom git supports for a file of a merged pull request: the author of the newest commit of the merged side
 * that changes the file, by topology and by date. They differ if two branches of the side changed it.
 */
export async function sideAuthors(
  clone: Clone,
  { sha, before }: LineCommit,
  change: Change,
  { glob, similarity }: { glob: string; similarity: number },
): Promise<Person[]> {
  const side = ['--full-history', '--no-merges', sha, `^${before}`]
  const byTopology = await newest(clone, ['--topo-order', ...side], change, { glob, similarity })
  const byDate = await newest(clone, ['--date-order', ...side], change, { glob, similarity })
  return [byTopology, byDate].filter((author) => author !== null)
}

async function newest(
  clone: Clone,
  revisions: string[],
  { path, oldPath }: Change,
  { glob, similarity }: { glob: string; similarity: number },
): Promise<Person | null> {
  const wanted = new Set([path, oldPath])
  const paths = withoutBraces(glob).map((pattern) => `:(glob)${pattern}`)
  const options = ['-z', '--name-status', `-M${similarity}%`, '--encoding=UTF-8', '--format=%x01%an%x01%ae']
  let person: Person | null = null
  for await (const field of gitFields(clone, ['log', ...options, ...revisions, '--', ...paths], '\0')) {
    const [, name, email] = field.split('\x01')
    if (name !== undefined && email !== undefined) person = { name, email: email.trim() }
    else if (wanted.has(field)) return person
  }
  return null
}
