import type { RegressionDetails } from '@promptledger/client'
import { AlertDeliveryBadge } from '../alerts/alert-status.tsx'
import { channelLabels } from '../alerts/channels.ts'
import { eventLabels } from '../alerts/events.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

type Told = RegressionDetails['told'][number]

const columns: Column<Told & { key: number }>[] = [
  { header: 'To', cell: (told) => <Recipient {...told} /> },
  { header: 'Event', cell: ({ event }) => eventLabels[event] },
  { header: 'State', cell: ({ state }) => <AlertDeliveryBadge state={state} /> },
  { header: 'Time', className: 'nowrap', cell: (told) => <Time at={told.finished_at ?? told.created_at} /> },
]

const uncertain = 'No alert yet: the evidence is not strong enough to tell people.'
const waiting = 'No alert yet: none matches this prompt, or the regression has not lasted long enough.'

export function ToldTable({
  regression: { told, state, certain_enough: isCertain },
}: {
  regression: RegressionDetails
}) {
  const none = (
    <p className="card muted">{state === 'open' ? (isCertain ? waiting : uncertain) : 'No alert was told.'}</p>
  )
  return (
    <Table
      caption="Who was told, newest first"
      columns={columns}
      rows={told.map((each, key) => ({ ...each, key }))}
      rowKey={({ key }) => key}
      empty={none}
    />
  )
}

function Recipient({ destination, alert }: Told) {
  if (destination === 'pull_request') return 'Pull request'
  if (alert === null) return <span className="muted">Removed alert</span>
  return (
    <div>
      <UntrustedText text={alert.name} />
      <span className="cell-note muted">{channelLabels[alert.channel]}</span>
    </div>
  )
}
