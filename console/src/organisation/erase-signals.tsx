import type { Erasure } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { countOf } from '../ui/number.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { ConfirmErasure } from './confirm-erasure.tsx'
import { erasureOf, type Selection, selections } from './erasure.ts'

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
        <Field label={label} hint={hint}>
          {(control) => (
            <input
              {...control}
              required
              autoComplete="off"
              spellCheck={false}
              placeholder={placeholder}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
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
