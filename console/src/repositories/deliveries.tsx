import type { Delivery } from '@promptledger/client'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { FormError } from '../ui/form-error.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { DeliveryTable } from './delivery-table.tsx'
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
    refetchInterval: ({ state: { data } }) => pollIntervalMs(data?.data ?? []),
  })
  const redelivery = useMutation({
    mutationFn: ({ id }: Delivery) => ledger.repositories.redeliver(repositoryId, id),
    onSuccess: () => refreshRepositories(queryClient),
  })
  return (
    <section aria-labelledby="deliveries" className="page-section">
      <h2 id="deliveries">Recent deliveries</h2>
      <FormError error={redelivery.error} />
      <DeliveryTable
        query={deliveries}
        isConnected={isConnected}
        busyId={redelivery.isPending ? redelivery.variables.id : null}
        onRedeliver={(delivery) => redelivery.mutate(delivery)}
      />
    </section>
  )
}

/** Polls often while an attempt is due within 10 s, rarely while the next retry is further away. */
function pollIntervalMs(deliveries: Delivery[]): number | false {
  const attempts = deliveries.flatMap(({ next_attempt_at: at }) => (at === null ? [] : [Date.parse(at)]))
  if (attempts.length === 0) return false
  return Math.min(...attempts) < Date.now() + 10_000 ? 2_000 : 15_000
}
