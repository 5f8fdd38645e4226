import type { Delivery } from '@promptledger/client'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { pageOf, useAddress } from '../address.ts'
import { ledger } from '../ledger.ts'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Pager } from '../ui/pager.tsx'
import { PastEnd } from '../ui/past-end.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { refreshRepositories } from './queries.ts'

const second = 1_000

interface Props {
  repositoryId: number
  /** Of one that is no longer followed, nothing can be worked on again. */
  isFollowed: boolean
}

/** What the forge sent lately, and what became of it. */
export function Deliveries({ repositoryId, isFollowed }: Props) {
  const queries = useQueryClient()
  const [address, change] = useAddress()
  const page = pageOf(address)
  const deliveries = useQuery({
    queryKey: ['deliveries', repositoryId, { page }],
    queryFn: async ({ signal }) => await ledger.repositories.deliveries(repositoryId, { page }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => pauseFor(data?.data ?? []),
  })
  const again = useMutation({
    mutationFn: ({ id }: Delivery) => ledger.repositories.redeliver(repositoryId, id),
    onSuccess: () => refreshRepositories(queries),
  })
  const goTo = (next: number) => change({ page: next === 1 ? null : String(next) })
  const { data: found, pagination } = deliveries.data ?? {}
  return (
    <section aria-labelledby="deliveries" className="page-part">
      <h2 id="deliveries">Recent deliveries</h2>
      <Refusal error={again.error} />
      {deliveries.isPending && <Loading what="deliveries" />}
      {deliveries.isError && <Failure error={deliveries.error} retry={deliveries.refetch} />}
      {found?.length === 0 &&
        pagination !== undefined &&
        (pagination.total_count > 0 ? (
          <PastEnd pagination={pagination} onPage={goTo} />
        ) : (
          <p className="card quiet">
            The forge has sent nothing in the last 30 days. Set the webhook up on its pages with the address above and
            the secret; its first ping shows up here as ignored, which means that the connection works.
          </p>
        ))}
      {found !== undefined && found.length > 0 && pagination !== undefined && (
        <>
          <DeliveryTable
            deliveries={found}
            isFollowed={isFollowed}
            busyId={again.isPending ? again.variables.id : null}
            onRedeliver={(delivery) => again.mutate(delivery)}
          />
          <Pager pagination={pagination} what="deliveries" onPage={goTo} />
        </>
      )}
    </section>
  )
}

/** Often while something is about to happen, seldom while the next attempt is far off. */
function pauseFor(deliveries: Delivery[]): number | false {
  const attempts = deliveries.flatMap(({ next_attempt_at: at }) => (at === null ? [] : [Date.parse(at)]))
  if (attempts.length === 0) return false
  return Math.min(...attempts) < Date.now() + 10 * second ? 2 * second : 15 * second
}
