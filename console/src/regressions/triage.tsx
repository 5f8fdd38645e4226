import type { RegressionDetails, ShiftDetails, Triage } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

type Step = RegressionDetails['steps'][number]

const dayMs = 86_400_000
const labels = { owner: 'Owner', comment: 'Comment' }

type Triaged = RegressionDetails | ShiftDetails

interface Props {
  subject: Triaged
  canEdit: boolean
  update: (change: Triage) => Promise<unknown>
}

/** Who takes care of a regression or a shift, and what people did and said about it. */
export function TriageSection({ subject, canEdit, update }: Props) {
  const isOpen = subject.state === 'open'
  if (!isOpen && subject.steps.length === 0) return null
  return (
    <section aria-labelledby="triage" className="page-section">
      <h2 id="triage">Who takes care of it</h2>
      <div className="card form">
        <Summary subject={subject} />
        {subject.steps.length > 0 && (
          <ol className="regression-history">
            {subject.steps.map((step, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added at the end.
              <li key={i}>
                <Time at={step.at} />
                <div>
                  <StepText step={step} />
                </div>
              </li>
            ))}
          </ol>
        )}
        {isOpen && canEdit && <TriageForm subject={subject} update={update} />}
      </div>
    </section>
  )
}

function Summary({ subject }: { subject: Triaged }) {
  const { owner, acknowledged_by: by, acknowledged_at: at, snoozed_until: until } = subject
  const whyNone = 'change' in subject ? ', because the author has no email address' : ' yet'
  return (
    <p>
      {owner === null ? `No one${whyNone}` : <UntrustedText text={owner} />}
      {at !== null && (
        <>
          , acknowledged with the key “<UntrustedText text={by ?? ''} />”
        </>
      )}
      {until !== null && Date.parse(until) > Date.now() && (
        <>
          , snoozed until <Time at={until} />
        </>
      )}
      .
    </p>
  )
}

const actions: Record<Step['action'], string> = {
  owner: 'made this the owner:',
  acknowledged: 'acknowledged it',
  unacknowledged: 'took the acknowledgement back',
  snoozed: 'snoozed it until',
  awake: 'ended the snooze',
  comment: 'wrote',
}

function StepText({ step: { by, action, text } }: { step: Step }) {
  return (
    <>
      <UntrustedText text={by ?? 'The operator'} /> {actions[action]}{' '}
      {action === 'snoozed' && text !== null && <Time at={text} />}
      {action === 'owner' && (text === null ? 'the author of the change' : <UntrustedText text={text} />)}
      {action === 'comment' && text !== null && (
        <blockquote>
          <UntrustedText text={text} />
        </blockquote>
      )}
    </>
  )
}

function TriageForm({ subject, update }: Pick<Props, 'subject' | 'update'>) {
  const queryClient = useQueryClient()
  const [comment, setComment] = useState('')
  const [owner, setOwner] = useState('')
  const triage = useMutation({
    mutationFn: update,
    onSuccess: () =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey }) => ['regressions', 'shifts'].includes(queryKey[0] as string),
      }),
  })
  const isAcknowledged = subject.acknowledged_at !== null
  const snooze = () => triage.mutate({ snoozed_until: new Date(Date.now() + 7 * dayMs).toISOString() })
  function submit(event: FormEvent) {
    event.preventDefault()
    const change = {
      ...(comment.trim() !== '' && { comment: comment.trim() }),
      ...(owner.trim() !== '' && { owner: owner.trim() }),
    }
    if (Object.keys(change).length === 0) return
    const clear = () => {
      setComment('')
      setOwner('')
    }
    triage.mutate(change, { onSuccess: clear })
  }
  return (
    <form className="form" onSubmit={submit}>
      <Field label={labels.comment}>
        {(control) => (
          <textarea {...control} rows={2} value={comment} onChange={({ target }) => setComment(target.value)} />
        )}
      </Field>
      <Field label={labels.owner} hint="An email address. Leave it empty to keep the current one.">
        {(control) => (
          <input {...control} type="email" value={owner} onChange={({ target }) => setOwner(target.value)} />
        )}
      </Field>
      <FormError error={triage.error} labels={labels} />
      <div className="form-actions">
        <Button onClick={() => triage.mutate({ acknowledged: !isAcknowledged })}>
          {isAcknowledged ? 'Take the acknowledgement back' : 'Acknowledge'}
        </Button>
        <Button onClick={snooze}>Snooze for a week</Button>
        <Button type="submit" kind="primary" busy={triage.isPending}>
          Save
        </Button>
      </div>
    </form>
  )
}
