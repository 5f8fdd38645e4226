import { NotFoundError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Deployed } from './live-times.tsx'

/** Which version of the prompt is live now, and how that is known. */
export function LiveVersion({ promptId }: { promptId: string }) {
  const live = useQuery({
    queryKey: ['live', promptId],
    queryFn: ({ signal }) =>
      ledger.history.live(promptId, {}, { signal }).catch((error) => {
        if (error instanceof NotFoundError) return null
        throw error
      }),
  })
  const { entry, live_source: source, environment, share, also_live: others } = live.data ?? {}
  if (entry == null || source == null || others === undefined) return null
  return (
    <p className="live-version muted">
      Live: <code>{entry.commit_sha.slice(0, 7)}</code>,{' '}
      {source === 'merge' ? 'by its merge' : <Deployed environment={environment ?? null} share={share ?? 1} />}
      {others.map((other) => (
        <span key={other.entry.id}>
          {'; '}
          also <code>{other.entry.commit_sha.slice(0, 7)}</code>,{' '}
          <Deployed environment={other.environment} share={other.share} />
        </span>
      ))}
    </p>
  )
}
