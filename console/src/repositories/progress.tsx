import type { ConnectedRepository } from '@promptledger/client'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useRepository } from './queries.ts'
import { Size } from './size.tsx'

/** How far the history of a repository that was just connected is read. */
export function Progress({ connected }: { connected: ConnectedRepository }) {
  const repository = useRepository(connected.id)
  const { state, last_error: error } = repository.data ?? connected
  const size = repository.data ?? { prompt_count: connected.prompts.length, entry_count: connected.entries }
  if (state === 'failing') {
    return (
      <div className="progress bad" role="alert">
        <CircleAlert aria-hidden="true" />
        <div>
          <strong>The history could not be read. It is tried again by itself.</strong>
          <span>{error}</span>
        </div>
      </div>
    )
  }
  const isDone = state === 'following'
  return (
    <div className={`progress ${isDone ? 'good' : ''}`} role="status">
      {isDone ? <CircleCheck aria-hidden="true" /> : <span className="loading-bar" aria-hidden="true" />}
      <div>
        <strong>{isDone ? 'The history is read' : 'Reading the history …'}</strong>
        <Size repository={size} />
      </div>
    </div>
  )
}
