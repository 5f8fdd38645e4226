import type { Key } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { firstFocus } from '../ui/first-focus.ts'
import { Notice } from '../ui/notice.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { Issued } from './issued.tsx'

interface Props {
  ofKey: Key
  /** Whether it is the one that the reader is signed in with. */
  isOwn: boolean
  onClose: () => void
}

export function RotateKey({ ofKey, isOwn, onClose }: Props) {
  const queries = useQueryClient()
  const [overlap, setOverlap] = useState('24')
  const rotation = useMutation({
    mutationFn: () => ledger.keys.rotate(ofKey.id, { overlap_hours: Number(overlap) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    rotation.mutate()
  }
  if (rotation.data !== undefined) {
    return (
      <Dialog key="made" title="The new key is made" onClose={onClose}>
        <Issued issued={rotation.data} onClose={onClose}>
          <p>
            {overlap === '0'
              ? 'The old one no longer works.'
              : `Put it in the place of the old one within ${hours(overlap)}: so long both work.`}
            {isOwn && ' You are signed in with the old one: sign in with the new one before it ends.'}
          </p>
        </Issued>
      </Dialog>
    )
  }
  return (
    <Dialog title={`Rotate “${ofKey.name}”`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>
          Makes a new key of the same name, role ({ofKey.role}) and lifetime in the place of the one that ends with{' '}
          <code>{ofKey.hint}</code>.
        </p>
        <Field
          label="Overlap, in hours"
          hint="How long the old key works on, so that nothing fails in between. 0 to 8760."
        >
          {(control) => (
            <input
              {...control}
              ref={firstFocus}
              type="number"
              inputMode="numeric"
              required
              min={0}
              max={8760}
              step={1}
              value={overlap}
              onChange={(event) => setOverlap(event.target.value)}
            />
          )}
        </Field>
        {isOwn && (
          <Notice tone="caution">
            This is the key you are signed in with. When the overlap ends, so does this session.
          </Notice>
        )}
        <Refusal error={rotation.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={rotation.isPending}>
            Rotate the key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function hours(text: string): string {
  return text === '1' ? '1 hour' : `${Number(text).toLocaleString()} hours`
}
