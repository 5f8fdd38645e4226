import type { Key } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { focusOnOpen } from '../ui/dialog.tsx'
import { NumberField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { CreatedKey } from './created-key.tsx'

interface Props {
  apiKey: Key
  /** Whether it is the key of the current session. */
  isCurrent: boolean
  onClose: () => void
}

const labels = { overlap_hours: 'Overlap (hours)' }

export function RotateKey({ apiKey, isCurrent, onClose }: Props) {
  const queryClient = useQueryClient()
  const [overlap, setOverlap] = useState('24')
  const rotation = useMutation({
    mutationFn: () => ledger.keys.rotate(apiKey.id, { overlap_hours: Number(overlap) }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    gcTime: 0,
  })
  if (rotation.data !== undefined) {
    return (
      <CreatedKey created={rotation.data} onClose={onClose}>
        <p>
          {overlap === '0'
            ? 'The old key no longer works.'
            : `Replace the old key within ${hours(overlap)}. Both keys work until then.`}
          {isCurrent && ' You are signed in with the old key: sign in with the new one before the old one expires.'}
        </p>
      </CreatedKey>
    )
  }
  return (
    <FormDialog
      title={`Rotate “${apiKey.name}”`}
      mutation={rotation}
      labels={labels}
      submitLabel="Rotate key"
      onSubmit={() => rotation.mutate()}
      onClose={onClose}
    >
      <p>
        Creates a key with the same name, role ({apiKey.role}), prompts and lifetime to replace the key ending in{' '}
        <code>{apiKey.hint}</code>.
      </p>
      <NumberField
        label={labels.overlap_hours}
        hint="How long the old key keeps working while you switch to the new one. 0 to 8,760."
        ref={focusOnOpen}
        min={0}
        max={8760}
        value={overlap}
        onChange={setOverlap}
      />
      {isCurrent && (
        <Notice tone="caution">You are signed in with this key. Your session ends when the overlap ends.</Notice>
      )}
    </FormDialog>
  )
}

function hours(text: string): string {
  return text === '1' ? '1 hour' : `${formatNumber(Number(text))} hours`
}
