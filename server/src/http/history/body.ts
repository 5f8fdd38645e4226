import type { FromSchema } from 'json-schema-to-ts'
import type { HistoryEntryBody, hiddenCharactersSchema, NewHistoryEntryBody } from '../../../../contract/history.ts'
import {
  type EntryDetails,
  type HistoryEntry,
  type NewHistoryEntry,
  newHistoryEntry,
} from '../../domain/history/entry.ts'
import {
  compareHidden,
  compareHiddenInTurns,
  type HiddenStatus,
  hiddenStatus,
} from '../../domain/history/hidden-characters.ts'
import type { Contents } from '../../domain/repositories/repository-service.ts'
import { isoTime, parseTime } from '../../domain/time.ts'

export function toHistoryEntryBody(entry: HistoryEntry): HistoryEntryBody {
  return {
    id: entry.id,
    action: entry.action,
    user: entry.user,
    commit_sha: entry.commitSha,
    pr_number: entry.prNumber,
    pr_url: entry.prUrl,
    branch_name: entry.branchName,
    created_at: isoTime(entry.createdAt),
  }
}

/** Parses and validates an entry from a request or an import file. */
export function parseHistoryEntry(body: NewHistoryEntryBody): NewHistoryEntry {
  return newHistoryEntry({
    action: body.action,
    user: { name: body.user.name, email: body.user.email },
    commitSha: body.commit_sha,
    prNumber: body.pr_number,
    prUrl: body.pr_url,
    branchName: body.branch_name,
    createdAt: parseTime('created_at', body.created_at),
  })
}

export function toHiddenStatusBody(status: HiddenStatus): { present: boolean; added: boolean } {
  return { present: status !== 'none', added: status === 'added' }
}

const maxSearchedLength = 2 * 1024 * 1024

/** Null if the text after the change is unknown or too long. A deleted prompt has no hidden characters. */
export async function toHiddenCharactersBody(
  { path, afterBlob, hiddenCharacters }: EntryDetails,
  { before, after }: Pick<Contents, 'before' | 'after'>,
): Promise<FromSchema<typeof hiddenCharactersSchema>> {
  const isDeleted = path !== null && afterBlob === null
  if (after === null && !isDeleted) return null
  // Searching a large text would delay other requests.
  if (Math.max(before?.length ?? 0, after?.length ?? 0) > maxSearchedLength) return null
  // Skip the search if an earlier one found nothing.
  const found =
    hiddenCharacters === 'none' ? compareHidden('', '') : await compareHiddenInTurns(before ?? '', after ?? '')
  return {
    ...toHiddenStatusBody(hiddenStatus(found)),
    count: found.count,
    added_count: found.added,
    kinds: found.kinds.map(({ kind, count, added }) => ({ kind, count, added_count: added })),
    positions: found.positions,
  }
}
