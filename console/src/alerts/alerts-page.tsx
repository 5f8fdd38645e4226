import type { Alert } from '@promptledger/client'
import { Plus } from 'lucide-react'
import { Link } from 'wouter'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { AddAlert } from './add-alert.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { useAlerts } from './alert-query.ts'
import { AlertDeliveryBadge, AlertStateBadge } from './alert-status.tsx'
import { channelLabels } from './channels.ts'
import { alertEvents, allEvents, eventLabels } from './events.ts'

/** Where people are told about regressions, and what was sent. */
export function AlertsPage() {
  const [params, setParams] = useUrlParams()
  const alerts = useAlerts()
  return (
    <>
      <PageHead title="Alerts">
        <Button kind="primary" onClick={() => setParams({ add: '1' })}>
          <Plus aria-hidden="true" />
          New alert
        </Button>
      </PageHead>
      <LoadState query={alerts} what="alerts" />
      {alerts.data && (
        <Table
          caption="Alerts"
          columns={columns}
          rows={alerts.data}
          rowKey={({ id }) => id}
          isDimmed={({ state }) => state === 'disabled'}
          empty={<NoAlerts />}
        />
      )}
      <AlertDeliveries alertId={null} />
      {params.has('add') && <AddAlert onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}

const columns: Column<Alert>[] = [
  { header: 'Alert', className: 'alert-name', cell: (alert) => <Name {...alert} /> },
  {
    header: 'Prompts',
    cell: ({ prompts }) =>
      prompts === '**' ? (
        'All'
      ) : (
        <code>
          <UntrustedText text={prompts} />
        </code>
      ),
  },
  { header: 'Events', cell: ({ events }) => <span title={events.map(labelOf).join('\n')}>{countOf(events)}</span> },
  { header: 'State', cell: ({ state }) => <AlertStateBadge state={state} /> },
  { header: 'Last delivery', cell: (alert) => <LastDelivery {...alert} /> },
]

function Name({ id, name, channel, target_hint: hint }: Alert) {
  return (
    <>
      <Link className="row-link" href={`/alerts/${id}`}>
        <UntrustedText text={name} />
      </Link>
      <span className="cell-note muted">
        {channelLabels[channel]}, <UntrustedText text={hint} />
      </span>
    </>
  )
}

function labelOf(event: Alert['events'][number]): string {
  return eventLabels[event]
}

function countOf(events: Alert['events']): string {
  return allEvents(events) ?? `${events.length} of ${alertEvents.length}`
}

function LastDelivery({ last_delivery: last }: Alert) {
  if (last === null) return <span className="muted">None yet</span>
  return (
    <div>
      <AlertDeliveryBadge state={last.state} />
      <span className="cell-note muted">
        <Time at={last.finished_at ?? last.created_at} as="relative" />
      </span>
    </div>
  )
}

function NoAlerts() {
  return (
    <EmptyState title="No alerts yet">
      <p>
        Add an alert to be told when a change makes a prompt worse: by webhook, in Slack, Teams or Discord, by email,
        through PagerDuty, or as an issue in Linear.
      </p>
    </EmptyState>
  )
}
