import type { HistoryEntryDetails, TimelineEntry } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { parseMessage } from './commit-message.ts'
import { Diff } from './diff.tsx'
import { HiddenCharacters } from './hidden-characters.tsx'
import { Impact } from './impact.tsx'

/** An open timeline entry: its message, its impact and its diff. */
export function EntryDetails({ promptId, item }: { promptId: string; item: TimelineEntry }) {
  const { entry, impact } = item
  const details = useQuery({
    queryKey: ['entry', promptId, entry.id],
    // A commit never changes.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => ledger.history.get(promptId, entry.id, { signal }),
  })
  const { body } = parseMessage(item.message)
  return (
    <div className="entry-details">
      {body !== '' && (
        <p className="entry-message">
          <UntrustedText text={body} />
        </p>
      )}
      {impact !== null && <Impact impact={impact} />}
      {details.data && details.data.key_id !== null && (
        <p className="muted">Recorded through the API with key {details.data.key_id}.</p>
      )}
      {details.data?.too_large && (
        <p className="muted">
          This commit or pull request is too large to record in full. Some of its files may be missing from the history,
          and its message may be cut.
        </p>
      )}
      {details.data && <HiddenCharacters found={details.data.hidden_characters} />}
      {details.isPending && <Loading what="the diff" />}
      {details.isError && <LoadError error={details.error} retry={details.refetch} />}
      {details.data &&
        (isTooLarge(details.data) ? (
          <p className="muted">The text is too large to show: together, the old and the new text exceed 16 MiB.</p>
        ) : details.data.before === null && details.data.after === null ? (
          <p className="muted">
            The text is unavailable: this entry was not read from git, or the commit no longer exists there.
          </p>
        ) : (
          <Diff {...details.data} />
        ))}
    </div>
  )
}

function isTooLarge(entry: Pick<HistoryEntryDetails, 'before_state' | 'after_state'>): boolean {
  return entry.before_state === 'too_large' || entry.after_state === 'too_large'
}
