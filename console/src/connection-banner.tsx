import { CloudOff, Hourglass } from 'lucide-react'
import { probe, useConnection } from './connection.ts'
import { Button } from './ui/button.tsx'

/** Says that the page may be out of date, while the requests in the background are retried. */
export function ConnectionBanner() {
  const connection = useConnection()
  if (connection === 'online') return null
  const isAway = connection === 'away'
  const Icon = isAway ? CloudOff : Hourglass
  return (
    <div role="alert" className="connection-banner">
      <Icon aria-hidden="true" />
      <p>
        <strong>{isAway ? 'Cannot reach the server.' : 'The service is overloaded.'}</strong> This page may be out of
        date. Retrying…
      </p>
      {isAway && <Button onClick={() => probe()}>Retry now</Button>}
    </div>
  )
}
