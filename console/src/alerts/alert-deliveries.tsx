import type { AlertDelivery } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { refreshAlerts, useAlertDeliveries } from './alert-query.ts'
import { AlertDeliveryBadge } from './alert-status.tsx'
import { channelLabels } from './channels.ts'
import { eventLabels } from './events.ts'

/** Deliveries, sent, waiting and failed. Null for all alerts. */
export function AlertDeliveries({ alertId }: { alertId: string | null }) {
  const queryClient = useQueryClient()
  const [params] = useUrlParams()
  const deliveries = useAlertDeliveries(alertId, pageFrom(params))
  const retry = useMutation({
    mutationFn: ({ id }: AlertDelivery) => ledger.alerts.retry(id),
    onSettled: () => refreshAlerts(queryClient),
  })
  const busyId = retry.isPending ? retry.variables.id : null
  const columns: Column<AlertDelivery>[] = [
    { header: 'Event', className: 'alert-event', cell: (delivery) => <Event {...delivery} /> },
    ...(alertId === null ? [{ header: 'To', cell: (delivery: AlertDelivery) => <Recipient {...delivery} /> }] : []),
    { header: 'State', className: 'status-cell', cell: (delivery) => <State {...delivery} /> },
    { header: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
    { header: 'Time', className: 'nowrap', cell: (delivery) => <When {...delivery} /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      cell: (delivery) =>
        isRetriable(delivery) && (
          <div className="row-actions">
            <Button
              busy={busyId === delivery.id}
              onClick={() => retry.mutate(delivery)}
              aria-label={`Retry delivery ${delivery.id}`}
            >
              <RotateCw aria-hidden="true" />
              Retry
            </Button>
          </div>
        ),
    },
  ]
  return (
    <section aria-labelledby="deliveries" className="page-section">
      <h2 id="deliveries">Deliveries</h2>
      <FormError error={retry.error} />
      <PagedTable
        query={deliveries}
        noun="deliveries"
        caption="Deliveries, newest first"
        columns={columns}
        rowKey={({ id }) => id}
        empty={<p className="card muted">Nothing was sent in the last 90 days. Tests do not appear here.</p>}
      />
    </section>
  )
}

function isRetriable({ state, destination, alert }: AlertDelivery): boolean {
  return state === 'failed' && (alert !== null || destination === 'pull_request')
}

function Event({ event, prompts, id }: AlertDelivery) {
  return (
    <>
      <strong>{eventLabels[event]}</strong>
      {prompts.map(({ id: promptId, name, regression_id: regression }) => (
        <Link
          key={promptId}
          className="cell-note"
          href={regression === null ? `/prompts/${promptId}` : `/prompts/${promptId}/regressions/${regression}`}
        >
          <UntrustedText text={name} />
        </Link>
      ))}
      <code className="cell-note muted">{id}</code>
    </>
  )
}

function Recipient({ destination, alert }: AlertDelivery) {
  if (destination === 'pull_request') return 'Pull request'
  if (alert === null) return <span className="muted">Removed alert</span>
  return (
    <div>
      <Link href={`/alerts/${alert.id}`}>
        <UntrustedText text={alert.name} />
      </Link>
      <span className="cell-note muted">{channelLabels[alert.channel]}</span>
    </div>
  )
}

function State({ state, status, response, error }: AlertDelivery) {
  return (
    <div>
      <AlertDeliveryBadge state={state} />
      {status !== null && <span className="alert-http-status muted"> {status}</span>}
      {error !== null && (
        <span className="cell-error">
          <UntrustedText text={error} />
        </span>
      )}
      {response && (
        <code className="alert-response muted">
          <UntrustedText text={response} />
        </code>
      )}
    </div>
  )
}

function When({ created_at: createdAt, next_attempt_at: next, finished_at: finished }: AlertDelivery) {
  return (
    <div>
      <Time at={finished ?? createdAt} />
      {next !== null && (
        <span className="cell-note muted">
          Next attempt <Time at={next} as="relative" />
        </span>
      )}
    </div>
  )
}
