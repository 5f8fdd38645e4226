import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { isShared } from '../shared/token.ts'
import { LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { PageLink } from '../ui/page-link.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { signalsPath } from './signal-filter.ts'

interface Props {
  promptId: string
  /** A change that went live. */
  entryId: number
  limit?: number
}

/** What users who were not satisfied wrote after a change, newest first. */
export function NegativeComments({ promptId, entryId, limit = 5 }: Props) {
  const filter = { change: entryId, side: 'after', value: 'negative', comment: 'any' } as const
  const comments = useQuery({
    queryKey: ['signals', promptId, 'negative-comments', entryId, limit],
    queryFn: async ({ signal }) =>
      await ledger.signals.list(promptId, { ...filter, change: String(entryId), limit }, { signal }),
  })
  const href = signalsPath(promptId, filter)
  const { data: signals, search } = comments.data ?? {}
  return (
    <section className="negative-comments" aria-label="Newest negative comments">
      <div className="section-head">
        <h3>Newest negative comments</h3>
        {signals !== undefined && signals.length > 0 && !isShared && <Link href={href}>All negative comments</Link>}
      </div>
      <LoadState query={comments} what="comments" />
      {signals?.length === 0 && search?.complete && <p className="muted">No negative comments after this change.</p>}
      {signals?.length === 0 && search?.complete === false && (
        <p className="muted">
          None among the newest {formatNumber(search.examined)} comments.{' '}
          {!isShared && <Link href={href}>Search older ones</Link>}
        </p>
      )}
      {signals !== undefined && signals.length > 0 && (
        <ul>
          {signals.map(({ id, comment, occurred_at: at }) => (
            <li key={id}>
              <blockquote dir="auto">
                <UntrustedText text={comment ?? ''} />
              </blockquote>
              <PageLink href={href}>
                <span className="visually-hidden">In the list of signals: </span>
                <Time at={at} as="relative" />
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
