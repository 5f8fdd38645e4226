import type { EvaluationRule } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { Field, LineField, ScoreField } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'

const rulesKey = ['evaluation-rules']
const labels = { 'rules.name': 'Name', rules: 'Evaluations' }
const sourceLabels = { '': 'As each event says', people: 'People', judge: 'A judge' }

interface Props {
  /** Names of evaluations that were rejected because their score has no threshold. */
  rejected: string[]
}

/** From which score on an evaluation is positive, and who gives it. */
export function EvaluationRules({ rejected }: Props) {
  const rules = useQuery({ queryKey: rulesKey, queryFn: ({ signal }) => ledger.telemetry.rules({ signal }) })
  return (
    <>
      <h3>Scores of evaluations</h3>
      <p className="muted">
        A score has no scale: 1 may be the best of 1 or the worst of 5. Set for each evaluation the score from which it
        is positive. Votes of people count for verdicts, scores of a judge have a line of their own.
      </p>
      {rules.isError && <LoadError error={rules.error} retry={rules.refetch} />}
      {rules.data && <RulesForm rules={rules.data.rules} rejected={rejected} />}
    </>
  )
}

/** A rule as it is typed. */
interface Row {
  id: number
  name: string
  source: keyof typeof sourceLabels
  threshold: string
}

function RulesForm({ rules, rejected }: Props & { rules: EvaluationRule[] }) {
  const queryClient = useQueryClient()
  const [rows, setRows] = useState(() => rules.map(toRow))
  const saving = useMutation({
    mutationFn: (body: EvaluationRule[]) => ledger.telemetry.setRules({ rules: body }),
    onSuccess: (saved) => queryClient.setQueryData(rulesKey, saved),
  })
  const entered = rows.map(toRule)
  const isChanged =
    JSON.stringify(entered) !==
    JSON.stringify(rules.map(({ name, source, threshold }) => ({ name, source, threshold })))
  const missing = [...new Set(rejected)].filter((name) => rows.every((row) => row.name !== name))
  const add = (name: string) => setRows([...rows, toRow({ name, source: null, threshold: null }, nextId(rows))])
  const change = (id: number, part: Partial<Row>) =>
    setRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)))
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate(entered)
  }
  return (
    <form className="segment-keys" onSubmit={submit}>
      {rows.map((row) => (
        <fieldset key={row.id} className="evaluation-rule" aria-label={`Evaluation ${visibleText(row.name)}`}>
          <LineField label="Name" required value={row.name} onChange={(name) => change(row.id, { name })} />
          <Field label="Comes from">
            {(control) => (
              <select
                {...control}
                value={row.source}
                onChange={({ target }) => change(row.id, { source: target.value as Row['source'] })}
              >
                {Object.entries(sourceLabels).map(([source, label]) => (
                  <option key={source} value={source}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <ScoreField
            label="Positive from"
            placeholder="Labels only"
            value={row.threshold}
            onChange={(threshold) => change(row.id, { threshold })}
          />
          <Button onClick={() => setRows(rows.filter(({ id }) => id !== row.id))}>Remove</Button>
        </fieldset>
      ))}
      {missing.map((name) => (
        <p key={name}>
          Scores of <UntrustedText text={name} /> are rejected.{' '}
          <Button onClick={() => add(name)}>Set a threshold</Button>
        </p>
      ))}
      <FormError error={saving.error} labels={labels} />
      <div className="form-actions">
        <span role="status" className="muted">
          {saving.isSuccess && !isChanged ? 'Saved. It applies to events that arrive from now on.' : ''}
        </span>
        <Button onClick={() => add('')}>Add evaluation</Button>
        <Button type="submit" kind="primary" busy={saving.isPending} disabled={!isChanged}>
          Save evaluations
        </Button>
      </div>
    </form>
  )
}

function toRow({ name, source, threshold }: EvaluationRule, id: number): Row {
  return { id, name, source: source ?? '', threshold: threshold === null ? '' : String(threshold) }
}

function toRule({ name, source, threshold }: Row): EvaluationRule {
  return { name, source: source === '' ? null : source, threshold: threshold === '' ? null : Number(threshold) }
}

function nextId(rows: Row[]): number {
  return Math.max(-1, ...rows.map(({ id }) => id)) + 1
}
