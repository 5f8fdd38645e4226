import { Plus } from 'lucide-react'
import { usePageTitle } from '../page-title.ts'
import { Button } from '../ui/button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { useUrlParams } from '../url-params.ts'
import { AddAlert } from './add-alert.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { useAlerts } from './alert-query.ts'
import { AlertTable } from './alert-table.tsx'

/** Where people are told about regressions, and what was sent. */
export function AlertsPage() {
  usePageTitle('Alerts')
  const [params, setParams] = useUrlParams()
  const alerts = useAlerts()
  return (
    <>
      <div className="page-head">
        <h1>Alerts</h1>
        <Button kind="primary" onClick={() => setParams({ add: '1' })}>
          <Plus aria-hidden="true" />
          New alert
        </Button>
      </div>
      {alerts.isPending && <Loading what="alerts" />}
      {alerts.isError && <LoadError error={alerts.error} retry={alerts.refetch} />}
      {alerts.data && <AlertTable alerts={alerts.data} />}
      <AlertDeliveries alertId={null} />
      {params.has('add') && <AddAlert onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}
