import { type Checked, compareAuthor } from './compare.ts'
import { type Clone, openObjects } from './git.ts'
import type { Texts } from './product.ts'
import { sideAuthors } from './side-author.ts'
import { count, type Tallies } from './tally.ts'

const megabyte = 1024 * 1024
// As documented: the limit of both texts together, and the size up to which a text is never too large.
const maxTextBytes = 16 * megabyte
const maxSmallBytes = 4 * megabyte

/** Compares the texts that the product returns with the files of the two commits. */
export async function compareTexts(
  { texts }: Tallies,
  clone: Clone,
  checked: Checked[],
  returned: Map<number, Texts>,
): Promise<void> {
  const objects = openObjects(clone)
  for (const { commit, change, recorded } of checked) {
    const given = returned.get(recorded.entry?.id ?? 0)
    for (const [name, blob, text, state] of [
      ['before', change.oldBlob, given?.before, given?.beforeState],
      ['after', change.newBlob, given?.after, given?.afterState],
    ] as const) {
      if (recorded.number !== null && name === 'before') continue
      const expected = blob === null ? null : await objects.textOf(blob, maxTextBytes)
      const isLarge = state === 'too_large' && (expected?.length ?? maxSmallBytes) > maxSmallBytes / 4
      // Longer than the limit, or absent from the clone.
      if (blob !== null && (expected === null || isLarge)) texts.unknown++
      else if (text === expected) texts.right++
      else count(texts, 'wrong', commit.sha, `${change.path}: the text ${name} the change differs`)
    }
  }
  objects.close()
}

export async function compareSideAuthors(
  tallies: Tallies,
  clone: Clone,
  checked: Checked[],
  options: { glob: string; similarity: number },
): Promise<void> {
  for (const each of checked) {
    const authors = await sideAuthors(clone, each.commit, each.change, options)
    compareAuthor(tallies, each, authors.length === 0 ? [each.commit.author] : authors)
  }
}
