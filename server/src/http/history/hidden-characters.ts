import type { FromSchema } from 'json-schema-to-ts'
import type { hiddenCharactersSchema } from '../../../../contract/history.ts'
import type { EntryDetails } from '../../domain/history/entry.ts'
import { compareHidden, type HiddenStatus, hiddenStatus } from '../../domain/history/hidden-characters.ts'
import type { Contents } from '../../domain/repositories/repository-service.ts'

export function toHiddenStatusBody(status: HiddenStatus): { present: boolean; added: boolean } {
  return { present: status !== 'none', added: status === 'added' }
}

const maxSearchedLength = 2 * 1024 * 1024

/** Null if the text after the change is unknown or too long. A deleted prompt has no hidden characters. */
export function toHiddenCharactersBody(
  { path, afterBlob, hiddenCharacters }: EntryDetails,
  { before, after }: Pick<Contents, 'before' | 'after'>,
): FromSchema<typeof hiddenCharactersSchema> {
  const isDeleted = path !== null && afterBlob === null
  if (after === null && !isDeleted) return null
  // Searching a large text would delay other requests.
  if (Math.max(before?.length ?? 0, after?.length ?? 0) > maxSearchedLength) return null
  // Skip the search if an earlier one found nothing.
  const found = hiddenCharacters === 'none' ? compareHidden('', '') : compareHidden(before ?? '', after ?? '')
  return {
    ...toHiddenStatusBody(hiddenStatus(found)),
    count: found.count,
    added_count: found.added,
    kinds: found.kinds.map(({ kind, count, added }) => ({ kind, count, added_count: added })),
    positions: found.positions,
  }
}
