import { PromptledgerError } from '@promptledger/client'

interface Props {
  error: unknown
  /** Leaves out errors that a form explains, such as a name that is taken. */
  onlyFailures?: boolean
}

/** Finds the cause of an error in the server's log. */
export function RequestId({ error, onlyFailures = false }: Props) {
  if (!(error instanceof PromptledgerError) || error.requestId === null) return null
  if (onlyFailures && (error.status ?? 0) < 500) return null
  return (
    <span className="request-id">
      {' '}
      Request ID <code>{error.requestId}</code>
    </span>
  )
}
