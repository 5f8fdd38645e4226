import type { Delivery } from '@promptledger/client'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { deliveryPollMs } from '../query-client.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { refreshRepositories } from './repository-query.ts'

interface Props {
  repositoryId: number
  /** Deliveries of a disconnected repository cannot be redelivered. */
  isConnected: boolean
}

/** The recent webhook deliveries of a repository, and how they were processed. */
export function Deliveries({ repositoryId, isConnected }: Props) {
  const queryClient = useQueryClient()
  const [params] = useUrlParams()
  const page = pageFrom(params)
  const deliveries = useQuery({
    queryKey: ['deliveries', repositoryId, { page }],
    queryFn: async ({ signal }) => await ledger.repositories.deliveries(repositoryId, { page }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => deliveryPollMs(data?.data ?? []),
  })
  const redelivery = useMutation({
    mutationFn: ({ id }: Delivery) => ledger.repositories.redeliver(repositoryId, id),
    onSuccess: () => refreshRepositories(queryClient),
  })
  const busyId = redelivery.isPending ? redelivery.variables.id : null
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
              onClick={() => redelivery.mutate(delivery)}
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
    <section aria-labelledby="deliveries" className="page-section">
      <h2 id="deliveries">Recent deliveries</h2>
      <FormError error={redelivery.error} />
      <PagedTable
        query={deliveries}
        noun="deliveries"
        caption="Deliveries, newest first"
        columns={columns}
        rowKey={({ id }) => id}
        empty={<NoDeliveries />}
      />
    </section>
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
      <Badge {...badges[state]} />
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
  pending: { tone: 'caution', children: 'Pending' },
  done: { tone: 'good', children: 'Processed' },
  ignored: { tone: 'plain', children: 'Ignored' },
  failed: { tone: 'bad', children: 'Failed' },
} as const
