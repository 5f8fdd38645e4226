import { NotFoundError } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { AlertDetails } from './alert-details.tsx'
import { refreshAlerts, useAlert } from './alert-query.ts'
import { AlertStateBadge } from './alert-status.tsx'
import { EditAlert } from './edit-alert.tsx'
import { RemoveAlert } from './remove-alert.tsx'
import { RotateAlertSecret } from './rotate-alert-secret.tsx'
import { TestResult } from './test-result.tsx'

export function AlertPage({ id }: { id: string }) {
  const queryClient = useQueryClient()
  const alert = useAlert(id)
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'remove' | null>(null)
  const test = useMutation({ mutationFn: () => ledger.alerts.test(id) })
  const toggle = useMutation({
    mutationFn: (state: 'active' | 'disabled') => ledger.alerts.update(id, { state }),
    onSettled: () => refreshAlerts(queryClient),
  })
  usePageTitle(alert.data?.name ?? 'Alert')
  if (alert.error instanceof NotFoundError) return <NotFoundPage />
  if (alert.isLoadingError) return <LoadError error={alert.error} retry={alert.refetch} />
  if (alert.isPending) return <Loading what="the alert" />
  const { data } = alert
  const isActive = data.state === 'active'
  const close = () => setDialog(null)
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="breadcrumbs" aria-label="Breadcrumbs">
            <Link href="/alerts">Alerts</Link>
          </nav>
          <div className="title-with-badge">
            <h1>
              <UntrustedText text={data.name} />
            </h1>
            <AlertStateBadge state={data.state} />
          </div>
        </div>
        <div className="page-actions">
          <Button kind="primary" busy={test.isPending} onClick={() => test.mutate()}>
            <Send aria-hidden="true" />
            {test.isPending ? 'Sending…' : 'Send a test'}
          </Button>
          <Button onClick={() => setDialog('edit')}>
            <Pencil aria-hidden="true" />
            Edit
          </Button>
          {data.channel === 'webhook' && (
            <Button onClick={() => setDialog('rotate')}>
              <KeyRound aria-hidden="true" />
              Rotate secret
            </Button>
          )}
          <Button busy={toggle.isPending} onClick={() => toggle.mutate(isActive ? 'disabled' : 'active')}>
            {isActive ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
            {isActive ? 'Disable' : 'Enable'}
          </Button>
          <Button kind="danger" onClick={() => setDialog('remove')}>
            <Trash2 aria-hidden="true" />
            Remove
          </Button>
        </div>
      </div>
      <FormError error={toggle.error ?? test.error} />
      <div role="status">{test.data && <TestResult result={test.data} />}</div>
      <AlertDetails alert={data} />
      <AlertDeliveries alertId={id} />
      {dialog === 'edit' && <EditAlert alert={data} onClose={close} />}
      {dialog === 'rotate' && <RotateAlertSecret alert={data} onClose={close} />}
      {dialog === 'remove' && <RemoveAlert alert={data} onClose={close} />}
    </>
  )
}
