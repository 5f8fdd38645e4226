import type { Source, SourceUpdate } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { usePageTitle } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Detail } from '../ui/detail.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { existing, PageState } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Time, TimeOr } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { adapters } from './adapters.ts'
import { SetUpSteps, SourceFields } from './source-fields.tsx'
import { formOf, labels, settingsOf } from './source-form.ts'
import { refreshSources, useSource } from './source-query.ts'

export function SourcePage({ id }: { id: string }) {
  const source = useSource(id)
  const [dialog, setDialog] = useState<'edit' | 'remove' | null>(null)
  usePageTitle(source.data?.name ?? 'Source')
  const data = existing(source)
  if (data === undefined) return <PageState query={source} what="the source" />
  const close = () => setDialog(null)
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="breadcrumbs" aria-label="Breadcrumbs">
            <Link href="/sources">Sources</Link>
          </nav>
          <h1>
            <UntrustedText text={data.name} />
          </h1>
        </div>
        <div className="page-actions">
          <Button onClick={() => setDialog('edit')}>
            <Pencil aria-hidden="true" />
            Edit
          </Button>
          <Button kind="danger" onClick={() => setDialog('remove')}>
            <Trash2 aria-hidden="true" />
            Remove
          </Button>
        </div>
      </div>
      <Arrived source={data} />
      <section className="card alert-details" aria-label="Set up">
        {data.base_url === null ? (
          <CopyField label="URL" value={data.url} />
        ) : (
          <p>
            Polls <UntrustedText text={data.base_url} />
          </p>
        )}
        <SetUpSteps adapter={data.adapter} />
      </section>
      {dialog === 'edit' && <EditSource source={data} onClose={close} />}
      {dialog === 'remove' && <RemoveSource source={data} onClose={close} />}
    </>
  )
}

/** What arrived, and why something was rejected. */
function Arrived({ source }: { source: Source }) {
  const { adapter, prompt, has_secret: hasSecret, last_rejected_at: rejectedAt, last_rejection: rejection } = source
  return (
    <section className="card alert-details" aria-label="What arrived">
      {!hasSecret && (
        <Notice tone="bad">
          <strong>Requests are rejected.</strong> Set the secret of {adapters[adapter].label} with Edit.
        </Notice>
      )}
      {hasSecret && source.last_received_at === null && <Notice>Waiting for the first event.</Notice>}
      {rejection !== null && rejectedAt !== null && (
        <Notice tone="caution">
          Last rejected <Time at={rejectedAt} as="relative" />: <UntrustedText text={rejection} />
        </Notice>
      )}
      <dl className="details-list even">
        <Detail name="Product">{adapters[adapter].label}</Detail>
        <Detail name="Prompt">
          {prompt === null ? <span className="muted">As events say</span> : <UntrustedText text={prompt} />}
        </Detail>
        <Detail name="Events received">{formatNumber(source.received)}</Detail>
        <Detail name="Signals recorded">{formatNumber(source.recorded)}</Detail>
        <Detail name="Rejected">{formatNumber(source.rejected)}</Detail>
        <Detail name="Last event">
          <TimeOr at={source.last_received_at} as="relative" none="None yet" />
        </Detail>
      </dl>
    </section>
  )
}

interface Props {
  source: Source
  onClose: () => void
}

function EditSource({ source, onClose }: Props) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(() => formOf(source))
  const change = useMutation({
    mutationFn: (body: SourceUpdate) => ledger.sources.update(source.id, body),
    onSuccess: () => refreshSources(queryClient),
    // Drop the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  return (
    <FormDialog
      title="Edit source"
      mutation={change}
      labels={labels}
      submitLabel="Save"
      onSubmit={() => change.mutate(settingsOf(form), { onSuccess: onClose })}
      onClose={onClose}
    >
      <SourceFields
        adapter={source.adapter}
        form={form}
        onChange={(changes) => setForm((current) => ({ ...current, ...changes }))}
        isEdit
      />
    </FormDialog>
  )
}

function RemoveSource({ source, onClose }: Props) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const removal = useMutation({
    mutationFn: () => ledger.sources.remove(source.id),
    onSuccess: () => {
      // Not refreshed while its page is shown: it no longer exists.
      navigate('/sources')
      queryClient.removeQueries({ queryKey: ['sources', source.id] })
      return queryClient.invalidateQueries({ queryKey: ['sources'] })
    },
  })
  return (
    <ConfirmDialog
      title="Remove this source?"
      confirmLabel="Remove"
      mutation={removal}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <UntrustedText text={source.name} />
      </p>
      <p>Its URL no longer accepts events. The signals that it recorded stay.</p>
    </ConfirmDialog>
  )
}
