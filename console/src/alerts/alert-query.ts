import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { deliveryPollMs } from '../query-client.ts'

export function useAlerts() {
  return useQuery({
    queryKey: ['alerts'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.alerts.list({}, { signal })),
  })
}

export function useAlert(id: string) {
  return useQuery({
    queryKey: ['alerts', id],
    queryFn: ({ signal }) => ledger.alerts.get(id, { signal }),
  })
}

/** The deliveries of one alert, or with null of all. Polled while an attempt is due soon. */
export function useAlertDeliveries(alertId: string | null, page: number) {
  return useQuery({
    queryKey: ['alerts', alertId, 'deliveries', { page }],
    queryFn: async ({ signal }) =>
      alertId === null
        ? await ledger.alerts.deliveries({ page }, { signal })
        : await ledger.alerts.deliveriesOf(alertId, { page }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => deliveryPollMs(data?.data ?? []),
  })
}

export async function refreshAlerts(queryClient: QueryClient): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['alerts'] })
}
