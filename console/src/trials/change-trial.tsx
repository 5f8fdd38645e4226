import type { Trial, TrialUpdate } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { focusOnOpen } from '../ui/dialog.tsx'
import { LineField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { errorAt } from '../ui/form-error.tsx'
import { sharesFrom } from './share-text.ts'
import { refreshTrials } from './trial-query.ts'
import { formatShare } from './trial-words.tsx'

interface Props {
  trial: Trial
  onClose: () => void
}

const labels = { share: 'Share' }

function useChange({ trial, onClose }: Props) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async (change: () => TrialUpdate) => ledger.trials.update(trial.id, change()),
    onSuccess: async (changed) => {
      queryClient.setQueryData(['trials', trial.id], changed)
      onClose()
      await refreshTrials(queryClient)
    },
  })
}

export function ChangeShare({ trial, onClose }: Props) {
  const [text, setText] = useState(formatShare(trial.share))
  const change = useChange({ trial, onClose })
  const problem = errorAt(change.error, ['share'], labels)
  return (
    <FormDialog
      title="Change the share"
      mutation={{ isPending: change.isPending, error: problem === undefined ? change.error : null }}
      labels={labels}
      submitLabel="Change"
      onSubmit={() => change.mutate(() => ({ share: sharesFrom(text)[0] ?? 0 }))}
      onClose={onClose}
    >
      <p>
        A higher share moves users from the live version to the candidate, and none back. Applications follow within 15
        seconds.
        {trial.ramp !== null && ' It ends the ramp.'}
      </p>
      <LineField
        label={labels.share}
        hint="How many users get the candidate, such as 20%."
        error={problem}
        ref={focusOnOpen}
        required
        value={text}
        onChange={setText}
      />
    </FormDialog>
  )
}

const questions = {
  pause: {
    state: 'paused',
    title: 'Pause this trial?',
    label: 'Pause',
    kind: 'primary',
    text: 'Everyone gets the live version within 15 seconds, until you resume the trial. Votes that were counted stay.',
  },
  resume: {
    state: 'running',
    title: 'Resume this trial?',
    label: 'Resume',
    kind: 'primary',
    text: 'The same users as before get the candidate again within 15 seconds.',
  },
  end: {
    state: 'ended',
    title: 'End this trial?',
    label: 'End trial',
    kind: 'danger',
    text: 'Everyone gets the live version within 15 seconds. Its figures stay, but it cannot be resumed.',
  },
} as const

export type StateChange = keyof typeof questions

export function ChangeState({ trial, to, onClose }: Props & { to: StateChange }) {
  const { state, title, label, kind, text } = questions[to]
  const change = useChange({ trial, onClose })
  return (
    <ConfirmDialog
      title={title}
      confirmLabel={label}
      confirmKind={kind}
      mutation={change}
      onConfirm={() => change.mutate(() => ({ state }))}
      onClose={onClose}
    >
      <p>{text}</p>
    </ConfirmDialog>
  )
}
