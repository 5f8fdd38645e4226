import type { Alert, AlertUpdate, TestedAlert } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { SubjectHead, usePageTitle } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import { existing, PageState } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { AlertDeliveries } from './alert-deliveries.tsx'
import { AlertDetails } from './alert-details.tsx'
import { AlertFields } from './alert-fields.tsx'
import { formOf, labelsFor, rulesOf } from './alert-form.ts'
import { refreshAlerts, useAlert } from './alert-query.ts'
import { AlertStateBadge } from './alert-status.tsx'
import { channelLabels, signedChannels } from './channels.ts'
import { RotateAlertSecret } from './rotate-alert-secret.tsx'

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
  const data = existing(alert)
  if (data === undefined) return <PageState query={alert} what="the alert" />
  const isActive = data.state === 'active'
  const close = () => setDialog(null)
  return (
    <>
      <SubjectHead
        breadcrumbs={<Link href="/alerts">Alerts</Link>}
        title={<UntrustedText text={data.name} />}
        badge={<AlertStateBadge state={data.state} />}
      >
        <div className="page-actions">
          <Button kind="primary" busy={test.isPending} onClick={() => test.mutate()}>
            <Send aria-hidden="true" />
            {test.isPending ? 'Sending…' : 'Send a test'}
          </Button>
          <Button onClick={() => setDialog('edit')}>
            <Pencil aria-hidden="true" />
            Edit
          </Button>
          {signedChannels.includes(data.channel) && (
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
      </SubjectHead>
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

/** What the receiver of a test message answered. */
function TestResult({ result }: { result: TestedAlert }) {
  const { sent, status, response, error, milliseconds } = result
  const answer = status === null ? 'No response' : `Response ${status}`
  const text = (
    <>
      <strong>{sent ? 'The test was sent.' : 'The test was not sent.'}</strong> {answer} after{' '}
      {formatNumber(milliseconds)} ms.
      {error !== null && (
        <>
          {' '}
          <UntrustedText text={error} />
        </>
      )}
      {response && (
        <code className="test-response">
          <UntrustedText text={response} />
        </code>
      )}
    </>
  )
  return <Notice tone={sent ? 'good' : 'bad'}>{text}</Notice>
}

interface Props {
  alert: Alert
  onClose: () => void
}

function RemoveAlert({ alert, onClose }: Props) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const removal = useMutation({
    mutationFn: () => ledger.alerts.remove(alert.id),
    onSuccess: () => {
      // Not refreshed while its page is shown: it no longer exists.
      navigate('/alerts')
      queryClient.removeQueries({ queryKey: ['alerts', alert.id] })
      return queryClient.invalidateQueries({ queryKey: ['alerts'] })
    },
  })
  return (
    <ConfirmDialog
      title="Remove this alert?"
      confirmLabel="Remove"
      mutation={removal}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <strong>
          <UntrustedText text={alert.name} />
        </strong>
        <span className="muted">
          {channelLabels[alert.channel]}, <UntrustedText text={alert.target_hint} />
        </span>
      </p>
      <p>Its target is deleted, and waiting messages are cancelled. Past deliveries stay in the list.</p>
    </ConfirmDialog>
  )
}

function EditAlert({ alert, onClose }: Props) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(() => formOf(alert))
  const change = useMutation({
    mutationFn: (body: AlertUpdate) => ledger.alerts.update(alert.id, body),
    onSuccess: () => refreshAlerts(queryClient),
    // Drop the target from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  function submit() {
    const target = form.target.trim()
    change.mutate({ ...rulesOf(form), ...(target !== '' && { target }) }, { onSuccess: onClose })
  }
  return (
    <FormDialog
      title="Edit alert"
      mutation={change}
      labels={labelsFor(alert.channel)}
      submitLabel="Save"
      onSubmit={submit}
      onClose={onClose}
    >
      <AlertFields
        channel={alert.channel}
        form={form}
        onChange={(changes) => setForm((current) => ({ ...current, ...changes }))}
        isEdit
      />
    </FormDialog>
  )
}
