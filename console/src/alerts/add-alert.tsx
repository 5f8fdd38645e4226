import type { AddedAlert, Channel, NewAlert } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Field } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { AlertFields } from './alert-fields.tsx'
import { labels, labelsFor, newForm, rulesOf } from './alert-form.ts'
import { refreshAlerts } from './alert-query.ts'
import { channelLabels, channels } from './channels.ts'

/** Adds an alert, and opens its page, where a test can be sent. */
export function AddAlert({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [channel, setChannel] = useState<Channel>('webhook')
  const [form, setForm] = useState(newForm)
  // Replaces the form in the history: Back would open it again.
  const open = ({ id }: AddedAlert) => navigate(`/alerts/${id}`, { replace: true })
  const addition = useMutation({
    mutationFn: (body: NewAlert) => ledger.alerts.add(body),
    onSuccess: async (added) => {
      await refreshAlerts(queryClient)
      if (added.secret === null) open(added)
    },
    // Drop the target and the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  const added = addition.data
  if (added?.secret != null) {
    return (
      <SecretDialog
        title="Alert added"
        label="Signing secret"
        secret={added.secret}
        recovery="rotate it to get a new one"
        onClose={() => open(added)}
      >
        <p>Your receiver verifies with it that requests come from here, as Standard Webhooks describes.</p>
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title="New alert"
      mutation={addition}
      labels={labelsFor(channel)}
      submitLabel="Add alert"
      onSubmit={() => addition.mutate({ channel, target: form.target.trim(), ...rulesOf(form) })}
      onClose={onClose}
    >
      <AlertFields
        channel={channel}
        form={form}
        onChange={(changes) => setForm((current) => ({ ...current, ...changes }))}
        isEdit={false}
      >
        <Field label={labels.channel}>
          {(control) => (
            <select
              {...control}
              value={channel}
              onChange={({ target }) => {
                setChannel(target.value as Channel)
                setForm((current) => ({ ...current, target: '', slackToken: '', signals: false }))
              }}
            >
              {channels.map((each) => (
                <option key={each} value={each}>
                  {channelLabels[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </AlertFields>
    </FormDialog>
  )
}
