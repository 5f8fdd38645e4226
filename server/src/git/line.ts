import { listHashes } from './hash-groups.ts'

const groupSize = 1_000

/** The commits that the default branch went through, newest first, in groups. */
export function listLine(mirror: string, tip: string): AsyncGenerator<string[]> {
  return listHashes(mirror, ['--first-parent', tip], tip, groupSize)
}
