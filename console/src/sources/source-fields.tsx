import type { ReactNode } from 'react'
import { LineField, NameField, ScoreField } from '../ui/field.tsx'
import { type AdapterName, adapters } from './adapters.ts'
import { fieldLabels, fieldNames, labels, type SourceForm } from './source-form.ts'

interface Props {
  adapter: AdapterName
  form: SourceForm
  onChange: (changes: Partial<SourceForm>) => void
  /** Whether the source exists already, so that an empty secret keeps the current one. */
  isEdit: boolean
  /** Between the name and the prompt. */
  children?: ReactNode
}

/** A generic webhook knows no paths of its own. */
const neededByWebhook: readonly string[] = ['value', 'id']

/** The fields that adding and editing a source share. */
export function SourceFields({ adapter, form, onChange, isEdit, children }: Props) {
  const { secretHint } = adapters[adapter]
  const isWebhook = adapter === 'webhook'
  const pathField = (name: (typeof fieldNames)[number], isRequired: boolean) => (
    <LineField
      key={name}
      label={fieldLabels[name].label}
      hint={fieldLabels[name].hint}
      placeholder={name === 'value' ? '$.rating' : ''}
      required={isRequired}
      value={form.fields[name]}
      onChange={(path) => onChange({ fields: { ...form.fields, [name]: path } })}
    />
  )
  return (
    <>
      <NameField
        label={labels.name}
        hint="Where the feedback comes from, such as the name of a bot or a product."
        value={form.name}
        onChange={(name) => onChange({ name })}
      />
      {children}
      <LineField
        label={labels.prompt}
        hint="The ID, name or path of the prompt of events that name none."
        required={isWebhook && form.fields.prompt.trim() === ''}
        value={form.prompt}
        onChange={(prompt) => onChange({ prompt })}
      />
      {adapter === 'langfuse' && (
        <>
          <LineField
            label={labels.base_url}
            hint="Of the cloud, or of your own instance."
            placeholder="https://cloud.langfuse.com"
            required
            value={form.baseUrl}
            onChange={(baseUrl) => onChange({ baseUrl })}
          />
          <LineField
            label={labels.score}
            hint="The name of the score that is feedback of users. Empty for all that no judge gave."
            value={form.score}
            onChange={(score) => onChange({ score })}
          />
        </>
      )}
      {secretHint !== null && (
        <LineField
          label={labels.secret}
          hint={isEdit ? `${secretHint} Leave it empty to keep the current one.` : secretHint}
          type="password"
          value={form.secret}
          onChange={(secret) => onChange({ secret })}
        />
      )}
      {isWebhook && fieldNames.filter((name) => neededByWebhook.includes(name)).map((name) => pathField(name, true))}
      <details className="form-advanced">
        <summary>Paths and values</summary>
        <div className="form">
          {fieldNames
            .filter((name) => !isWebhook || !neededByWebhook.includes(name))
            .map((name) => pathField(name, false))}
          <LineField
            label={labels.positive_values}
            hint="Separated by commas, beside common words such as up, good, yes, true and 1."
            value={form.positive}
            onChange={(positive) => onChange({ positive })}
          />
          <LineField
            label={labels.negative_values}
            hint="Separated by commas, beside down, bad, no, false, 0 and -1."
            value={form.negative}
            onChange={(negative) => onChange({ negative })}
          />
          <ScoreField
            label={labels.midpoint}
            hint="Numbers above count as positive, those below as negative."
            value={form.midpoint}
            onChange={(midpoint) => onChange({ midpoint })}
          />
        </div>
      </details>
    </>
  )
}

/** What to do on the side of the product. */
export function SetUpSteps({ adapter }: { adapter: AdapterName }) {
  return (
    <ol className="set-up-source" aria-label={`Set up ${adapters[adapter].label}`}>
      {adapters[adapter].steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  )
}
