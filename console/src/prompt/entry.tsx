import type { TimelineEntry } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Diff } from './diff.tsx'
import { Figures } from './figures.tsx'
import { readMessage } from './message.ts'

/** An entry, opened: what it did, and what it changed. */
export function Entry({ promptId, item }: { promptId: string; item: TimelineEntry }) {
  const { entry, impact } = item
  const details = useQuery({
    queryKey: ['entry', promptId, entry.id],
    // What a commit changed stays what it changed.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => ledger.history.get(promptId, entry.id, { signal }),
  })
  const { rest } = readMessage(item.message)
  return (
    <div className="entry">
      {rest !== '' && <p className="entry-message">{rest}</p>}
      {impact !== null && <Figures effect={impact} />}
      {details.isPending && <Loading what="the text" />}
      {details.isError && <Failure error={details.error} retry={details.refetch} />}
      {details.data &&
        (details.data.before === null && details.data.after === null ? (
          <p className="quiet">The text is not known: the entry was not read from git, or git no longer has it.</p>
        ) : (
          <Diff {...details.data} />
        ))}
    </div>
  )
}
