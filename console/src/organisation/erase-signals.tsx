import type { Erasure } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { LineField } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { countOf } from '../ui/number.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

type Selection = 'voter' | 'subject' | 'metadata'

const selections: Record<Selection, { label: string; hint: string; placeholder: string }> = {
  voter: {
    label: 'Voter',
    hint: 'Who voted, exactly as your application sent it. Only its hash is stored.',
    placeholder: 'u-123',
  },
  subject: {
    label: 'Subject',
    hint: 'What was voted on, exactly as your application sent it. Withdrawn votes are erased too.',
    placeholder: 'answer-42',
  },
  metadata: {
    label: 'Metadata',
    hint: 'A JSON object. Signals whose metadata has all of its members with equal values match.',
    placeholder: '{"user": "u-123"}',
  },
}

/** The body of the request, or a text that says what is wrong with what was entered. */
function erasureOf(selection: Selection, text: string): Erasure | string {
  if (selection !== 'metadata') return { [selection]: text }
  const parsed = parseObject(text)
  if (parsed === null) return 'Metadata must be a JSON object, such as {"user": "u-123"}.'
  // JavaScript would round it, and then erase other signals or none.
  if (/\d{16}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))) {
    return 'Numbers of more than 15 digits can only be sent with the API: POST /api/v1/signals/erase.'
  }
  return { metadata: parsed }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

interface Props {
  /** What was entered, such as `Voter u-123`. */
  what: string
  organisationName: string
  matching: number
  mutation: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
}

function ConfirmErasure({ what, organisationName, matching, mutation, onConfirm, onClose }: Props) {
  const signals = countOf(matching, 'signal')
  return (
    <ConfirmDialog
      title={`Erase ${signals}?`}
      confirmLabel={mutation.isPending ? 'Erasing…' : `Erase ${signals}`}
      mutation={mutation}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p className="erasure-what">
        <UntrustedText text={what} />
      </p>
      <ul className="plain-list">
        <li>
          {signals} of <UntrustedText text={organisationName} /> match now, in all prompts, deleted ones included.
        </li>
        <li>They disappear from lists, exports, charts and verdicts. This cannot be undone.</li>
        <li>They still count towards the monthly limit of their month.</li>
        <li>Existing backups still contain them.</li>
        <li>The audit log says that you erased them and how many, not whose they were.</li>
      </ul>
    </ConfirmDialog>
  )
}

const names = Object.keys(selections) as Selection[]
const labels = Object.fromEntries(names.map((name) => [name, selections[name].label]))
const options = names.map((name) => ({ value: name, label: selections[name].label }))

/** Erases the feedback of one person, after showing how many signals that is. */
export function EraseSignals({ organisationName }: { organisationName: string }) {
  const queryClient = useQueryClient()
  const [selection, setSelection] = useState<Selection>('voter')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<Error | null>(null)
  const preview = useMutation({ mutationFn: (erasure: Erasure) => ledger.signals.previewErasure(erasure) })
  const erasing = useMutation({
    mutationFn: (erasure: Erasure) => ledger.signals.erase(erasure),
    onSuccess: () => {
      preview.reset()
      setText('')
      // Every figure may have changed.
      return queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    },
  })
  const { hint, label, placeholder } = selections[selection]
  function submit(event: FormEvent) {
    event.preventDefault()
    erasing.reset()
    const erasure = erasureOf(selection, text)
    setProblem(typeof erasure === 'string' ? new Error(erasure) : null)
    if (typeof erasure !== 'string') preview.mutate(erasure)
  }
  return (
    <section className="card danger-zone" aria-labelledby="erase">
      <h2 id="erase">Erase signals</h2>
      <p className="muted">
        Removes all signals of one person or about one subject, in every prompt, for example to honour a deletion
        request.
      </p>
      <form className="form" onSubmit={submit}>
        <ToggleGroup
          label="Erase by"
          options={options}
          isSelected={(name) => name === selection}
          onSelect={setSelection}
        />
        <LineField label={label} hint={hint} required placeholder={placeholder} value={text} onChange={setText} />
        <FormError error={problem ?? preview.error} labels={labels} />
        <div className="form-actions">
          <Button type="submit" busy={preview.isPending}>
            {preview.isPending ? 'Counting…' : 'Count matching signals'}
          </Button>
        </div>
      </form>
      <div role="status">
        {preview.data?.matching === 0 && <Notice>No signal matches. Nothing was erased.</Notice>}
        {erasing.data && (
          <Notice>
            {countOf(erasing.data.erased, 'signal')} erased. Existing backups still contain them, until those are
            deleted as well.
          </Notice>
        )}
      </div>
      {preview.data !== undefined && preview.data.matching > 0 && (
        <ConfirmErasure
          what={`${label} ${text}`}
          organisationName={organisationName}
          matching={preview.data.matching}
          mutation={erasing}
          onConfirm={() => erasing.mutate(preview.variables)}
          onClose={preview.reset}
        />
      )}
    </section>
  )
}
