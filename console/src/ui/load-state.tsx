import { NotFoundError } from '@promptledger/client'
import { CircleAlert } from 'lucide-react'
import { NotFoundPage } from '../not-found-page.tsx'
import { errorMessage } from '../query-client.ts'
import { Button } from './button.tsx'
import { RequestId } from './request-id.tsx'

/** Stays invisible for the first 250 ms, so that fast loads do not flicker: see states.css. */
export function Loading({ what }: { what: string }) {
  return (
    <div className="loading" role="status">
      <span className="loading-bar" aria-hidden="true" />
      <span>Loading {what}…</span>
    </div>
  )
}

/** Shown where data failed to load. The request ID finds the cause in the server's log. */
export function LoadError({ error, retry }: { error: unknown; retry: () => unknown }) {
  return (
    <div className="load-error" role="alert">
      <CircleAlert aria-hidden="true" />
      <div>
        <p>{errorMessage(error)}</p>
        <RequestId error={error} />
      </div>
      <Button onClick={() => retry()}>Try again</Button>
    </div>
  )
}

interface Props {
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown }
  /** What is loaded, such as `alerts`. */
  what: string
}

/** Says that a query loads, or why it failed. */
export function LoadState({ query, what }: Props) {
  if (query.isPending) return <Loading what={what} />
  return query.isError && <LoadError error={query.error} retry={query.refetch} />
}

/** The same instead of a page, whose subject may not exist. */
export function PageState(props: Props) {
  return props.query.error instanceof NotFoundError ? <NotFoundPage /> : <LoadState {...props} />
}

/** The subject of a page once it is loaded, unless it has been removed since. */
export function existing<Data>({ data, error }: { data: Data | undefined; error: unknown }): Data | undefined {
  return error instanceof NotFoundError ? undefined : data
}
