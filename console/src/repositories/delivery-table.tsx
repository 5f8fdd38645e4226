import type { Delivery } from '@promptledger/client'
import { RotateCw } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { DeliveryStateBadge } from './delivery-state.tsx'

interface Props {
  deliveries: Delivery[]
  isFollowed: boolean
  /** The one that is being asked for again. */
  busyId: number | null
  onRedeliver: (delivery: Delivery) => void
}

export function DeliveryTable({ deliveries, isFollowed, busyId, onRedeliver }: Props) {
  return (
    <div className="table-frame">
      <table className="table delivery-table">
        <caption className="unseen">Deliveries, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">State</th>
            <th scope="col" className="figures">
              Attempts
            </th>
            <th scope="col">Received</th>
            <th scope="col">Finished</th>
            <th scope="col">
              <span className="unseen">Acts</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map((delivery) => (
            <tr key={delivery.id}>
              <th scope="row">
                <strong className="delivery-event">{delivery.event || 'unnamed'}</strong>
                <span className="quiet small">No. {delivery.id}</span>
              </th>
              <td data-label="State" className="repository-state">
                <DeliveryStateBadge state={delivery.state} />
                {delivery.error !== null && <span className="repository-error">{delivery.error}</span>}
              </td>
              <td data-label="Attempts" className="figures">
                {delivery.attempts}
              </td>
              <td data-label="Received" className="nowrap">
                <Time at={delivery.received_at} />
              </td>
              <td data-label="Finished" className="nowrap">
                <Finish {...delivery} />
              </td>
              <td>
                {isFollowed && (delivery.state !== 'pending' || delivery.error !== null) && (
                  <div className="acts">
                    <Button
                      busy={busyId === delivery.id}
                      onClick={() => onRedeliver(delivery)}
                      aria-label={`Redeliver no. ${delivery.id}`}
                    >
                      <RotateCw aria-hidden="true" />
                      Redeliver
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Finish({ finished_at: finishedAt, next_attempt_at: nextAt, attempts }: Delivery) {
  if (finishedAt !== null) return <Time at={finishedAt} />
  if (nextAt === null || attempts === 0) return <span className="quiet">Not yet</span>
  return (
    <span className="quiet">
      Next attempt <Time at={nextAt} as="ago" />
    </span>
  )
}
