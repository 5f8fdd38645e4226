import { PromptledgerError } from '@promptledger/client'
import { CircleAlert } from 'lucide-react'
import { reasonOf } from '../queries.ts'
import { Button } from './button.tsx'

/** What went wrong, what to do about it, and what to tell whoever runs the service. */
export function Failure({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const requestId = error instanceof PromptledgerError ? error.requestId : null
  return (
    <div className="failure" role="alert">
      <CircleAlert aria-hidden="true" />
      <div>
        <p>{reasonOf(error)}</p>
        {requestId !== null && (
          <p className="failure-request">
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
      {retry !== undefined && <Button onClick={() => retry()}>Try again</Button>}
    </div>
  )
}
