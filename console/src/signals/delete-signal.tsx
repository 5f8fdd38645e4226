import type { Signal } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { SignalValue } from './signal-value.tsx'

interface Props {
  promptId: string
  signal: Signal
  onDeleted: () => void
  onClose: () => void
}

export function DeleteSignal({ promptId, signal, onDeleted, onClose }: Props) {
  const queryClient = useQueryClient()
  const deletion = useMutation({
    mutationFn: () => ledger.signals.delete(promptId, signal.id),
    // Shares, charts and verdicts on every page change with it.
    onSuccess: () => queryClient.invalidateQueries(),
  })
  return (
    <ConfirmDialog
      title="Delete this signal?"
      confirmLabel="Delete signal"
      mutation={deletion}
      onConfirm={() => deletion.mutate(undefined, { onSuccess: onDeleted })}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <SignalValue value={signal.value} />
        <Time at={signal.created_at} />
      </p>
      <p>
        Percentages, charts and verdicts will no longer include it. It still counts towards the monthly limit. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
