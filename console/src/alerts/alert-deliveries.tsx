import type { AlertDelivery } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { FormError } from '../ui/form-error.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { AlertDeliveryTable } from './alert-delivery-table.tsx'
import { refreshAlerts, useAlertDeliveries } from './alert-query.ts'

/** Deliveries, sent, waiting and failed. Null for all alerts. */
export function AlertDeliveries({ alertId }: { alertId: string | null }) {
  const queryClient = useQueryClient()
  const [params] = useUrlParams()
  const deliveries = useAlertDeliveries(alertId, pageFrom(params))
  const retry = useMutation({
    mutationFn: ({ id }: AlertDelivery) => ledger.alerts.retry(id),
    onSettled: () => refreshAlerts(queryClient),
  })
  return (
    <section aria-labelledby="deliveries" className="page-section">
      <h2 id="deliveries">Deliveries</h2>
      <FormError error={retry.error} />
      <AlertDeliveryTable
        query={deliveries}
        ofAll={alertId === null}
        busyId={retry.isPending ? retry.variables.id : null}
        onRetry={(delivery) => retry.mutate(delivery)}
      />
    </section>
  )
}
