import type { Delivery, Page } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Props {
  query: UseQueryResult<Page<Delivery>>
  isConnected: boolean
  /** The delivery whose redelivery request is in progress. */
  busyId: number | null
  onRedeliver: (delivery: Delivery) => void
}

export function DeliveryTable({ query, isConnected, busyId, onRedeliver }: Props) {
  const columns: Column<Delivery>[] = [
    { header: 'Event', cell: (delivery) => <Event {...delivery} /> },
    { header: 'Status', className: 'status-cell', cell: (delivery) => <Status {...delivery} /> },
    { header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
    { header: 'Received', className: 'nowrap', cell: ({ received_at: receivedAt }) => <Time at={receivedAt} /> },
    { header: 'Finished', className: 'nowrap', cell: (delivery) => <Finished {...delivery} /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      cell: (delivery) =>
        isConnected &&
        isRedeliverable(delivery) && (
          <div className="row-actions">
            <Button
              busy={busyId === delivery.id}
              onClick={() => onRedeliver(delivery)}
              aria-label={`Redeliver delivery ${delivery.id}`}
            >
              <RotateCw aria-hidden="true" />
              Redeliver
            </Button>
          </div>
        ),
    },
  ]
  return (
    <PagedTable
      query={query}
      noun="deliveries"
      caption="Deliveries, newest first"
      columns={columns}
      rowKey={({ id }) => id}
      empty={<NoDeliveries />}
    />
  )
}

/** A pending delivery is processed anyway, unless it already failed and waits for its next attempt. */
function isRedeliverable({ state, error }: Delivery): boolean {
  return state !== 'pending' || error !== null
}

function Event({ event, id }: Delivery) {
  return (
    <>
      <strong className="delivery-event">
        <UntrustedText text={event || 'unnamed'} />
      </strong>
      <span className="cell-note muted">Delivery {id}</span>
    </>
  )
}

function Status({ state, error }: Delivery) {
  return (
    <>
      <DeliveryStatusBadge state={state} />
      {error !== null && (
        <span className="cell-error">
          <UntrustedText text={error} />
        </span>
      )}
    </>
  )
}

function Finished({ finished_at: finishedAt, next_attempt_at: nextAttemptAt, attempts }: Delivery) {
  if (finishedAt !== null) return <Time at={finishedAt} />
  if (nextAttemptAt === null || attempts === 0) return <span className="muted">Not yet</span>
  return (
    <span className="muted">
      Next attempt <Time at={nextAttemptAt} as="relative" />
    </span>
  )
}

function NoDeliveries() {
  return (
    <p className="card muted">
      No deliveries in the last 30 days. Add the webhook on the forge's site with the URL above and the secret. Its
      first ping appears here as ignored, which means the connection works.
    </p>
  )
}

const badges = {
  pending: { tone: 'caution', label: 'Pending' },
  done: { tone: 'good', label: 'Processed' },
  ignored: { tone: 'plain', label: 'Ignored' },
  failed: { tone: 'bad', label: 'Failed' },
} as const

function DeliveryStatusBadge({ state }: { state: Delivery['state'] }) {
  const { tone, label } = badges[state]
  return <Badge tone={tone}>{label}</Badge>
}
