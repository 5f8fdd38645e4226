import type { Signal } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Time } from '../ui/time.tsx'
import { Value } from './value.tsx'

interface Props {
  promptId: string
  signal: Signal
  onDone: () => void
  onClose: () => void
}

export function TakeBack({ promptId, signal, onDone, onClose }: Props) {
  const queries = useQueryClient()
  const retraction = useMutation({
    mutationFn: () => ledger.signals.retract(promptId, signal.id),
    // It leaves every figure there is, on whatever page.
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <Confirm
      title="Take this signal back?"
      act="Take back"
      state={retraction}
      onConfirm={() => retraction.mutate(undefined, { onSuccess: onDone })}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <Value value={signal.value} />
        <Time at={signal.created_at} />
      </p>
      <p>
        It leaves every figure: shares, charts and verdicts change. It stays in the month's count, so it does not make
        room under the limit. This cannot be undone.
      </p>
    </Confirm>
  )
}
