import type { HistoryEntryDetails } from '@promptledger/client'
import { LoadState } from '../ui/load-state.tsx'
import { Diff } from './diff.tsx'
import { useEntryTexts } from './entry-queries.ts'
import { HiddenCharacters } from './hidden-characters.tsx'

/** The diff of a change, with warnings about unusual characters. */
export function ChangeDiff({ promptId, entryId }: { promptId: string; entryId: number }) {
  const details = useEntryTexts(promptId, entryId)
  if (details.data === undefined) return <LoadState query={details} what="the diff" />
  const { key_id: keyId, too_large: isCut, hidden_characters: hidden, before, after } = details.data
  return (
    <>
      {keyId !== null && <p className="muted">Recorded through the API with key {keyId}.</p>}
      {isCut && (
        <p className="muted">
          This commit or pull request is too large to record in full. Some of its files may be missing from the history,
          and its message may be cut.
        </p>
      )}
      <HiddenCharacters found={hidden} />
      {isTooLarge(details.data) ? (
        <p className="muted">The text is too large to show: together, the old and the new text exceed 16 MiB.</p>
      ) : before === null && after === null ? (
        <p className="muted">
          The text is unavailable: this entry was not read from git, or the commit no longer exists there.
        </p>
      ) : (
        <Diff {...details.data} />
      )}
    </>
  )
}

function isTooLarge(entry: Pick<HistoryEntryDetails, 'before_state' | 'after_state'>): boolean {
  return entry.before_state === 'too_large' || entry.after_state === 'too_large'
}
