import { PromptledgerError } from '@promptledger/client'
import { CircleAlert } from 'lucide-react'
import { errorMessage } from '../query-client.ts'
import { Button } from './button.tsx'

/** Shown where data failed to load. The request ID finds the cause in the server's log. */
export function LoadError({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const requestId = error instanceof PromptledgerError ? error.requestId : null
  return (
    <div className="load-error" role="alert">
      <CircleAlert aria-hidden="true" />
      <div>
        <p>{errorMessage(error)}</p>
        {requestId !== null && (
          <p className="load-error-request">
            Request ID <code>{requestId}</code>
          </p>
        )}
      </div>
      {retry !== undefined && <Button onClick={() => retry()}>Try again</Button>}
    </div>
  )
}
