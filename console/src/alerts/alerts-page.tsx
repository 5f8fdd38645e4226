import { Plus } from 'lucide-react'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { useUrlParams } from '../url-params.ts'
import { AddAlert } from './add-alert.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { useAlerts } from './alert-query.ts'
import { AlertTable } from './alert-table.tsx'

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
      {alerts.data && <AlertTable alerts={alerts.data} />}
      <AlertDeliveries alertId={null} />
      {params.has('add') && <AddAlert onClose={() => setParams({ add: null }, { replace: true })} />}
    </>
  )
}
