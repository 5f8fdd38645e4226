import { CircleAlert } from 'lucide-react'
import { errorMessage } from '../query-client.ts'
import { Button } from './button.tsx'
import { RequestId } from './request-id.tsx'

/** Shown where data failed to load. The request ID finds the cause in the server's log. */
export function LoadError({ error, retry }: { error: unknown; retry?: () => unknown }) {
  return (
    <div className="load-error" role="alert">
      <CircleAlert aria-hidden="true" />
      <div>
        <p>{errorMessage(error)}</p>
        <RequestId error={error} />
      </div>
      {retry !== undefined && <Button onClick={() => retry()}>Try again</Button>}
    </div>
  )
}
