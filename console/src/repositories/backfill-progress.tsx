import type { ConnectedRepository } from '@promptledger/client'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { RepositoryContents } from './repository-contents.tsx'
import { useRepository } from './repository-query.ts'

/** How far the backfill of a newly connected repository has come. */
export function BackfillProgress({ connected }: { connected: ConnectedRepository }) {
  const repository = useRepository(connected.id)
  const { state, last_error: error } = repository.data ?? connected
  const contents = repository.data ?? { prompt_count: connected.prompts.length, entry_count: connected.entries }
  if (state === 'failing') {
    return (
      <div className="progress bad" role="alert">
        <CircleAlert aria-hidden="true" />
        <div>
          <strong>The history could not be read. The service retries automatically.</strong>
          <span>
            <UntrustedText text={error ?? ''} />
          </span>
        </div>
      </div>
    )
  }
  const isDone = state === 'following'
  if (isDone && contents.prompt_count === 0) {
    return (
      <div className="progress bad" role="alert">
        <CircleAlert aria-hidden="true" />
        <div>
          <strong>No prompts found</strong>
          <span>
            No file matches <UntrustedText text={connected.path} />. Check the folders, and upper and lower case. To
            change the path, disconnect the repository and connect it again.
          </span>
        </div>
      </div>
    )
  }
  return (
    <div className={`progress ${isDone ? 'good' : ''}`} role="status">
      {isDone ? <CircleCheck aria-hidden="true" /> : <span className="loading-bar" aria-hidden="true" />}
      <div>
        <strong>{isDone ? 'History imported' : 'Reading the history…'}</strong>
        <RepositoryContents {...contents} />
      </div>
    </div>
  )
}
