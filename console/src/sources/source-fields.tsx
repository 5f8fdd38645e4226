import type { ReactNode } from 'react'
import { Field } from '../ui/field.tsx'
import { NameField } from '../ui/name-field.tsx'
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
    <TextField
      key={name}
      label={fieldLabels[name].label}
      hint={fieldLabels[name].hint}
      placeholder={name === 'value' ? '$.rating' : ''}
      isRequired={isRequired}
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
      <TextField
        label={labels.prompt}
        hint="The ID, name or path of the prompt of events that name none."
        isRequired={isWebhook && form.fields.prompt.trim() === ''}
        value={form.prompt}
        onChange={(prompt) => onChange({ prompt })}
      />
      {adapter === 'langfuse' && (
        <>
          <TextField
            label={labels.base_url}
            hint="Of the cloud, or of your own instance."
            placeholder="https://cloud.langfuse.com"
            isRequired
            value={form.baseUrl}
            onChange={(baseUrl) => onChange({ baseUrl })}
          />
          <TextField
            label={labels.score}
            hint="The name of the score that is feedback of users. Empty for all that no judge gave."
            value={form.score}
            onChange={(score) => onChange({ score })}
          />
        </>
      )}
      {secretHint !== null && (
        <Field
          label={labels.secret}
          hint={isEdit ? `${secretHint} Leave it empty to keep the current one.` : secretHint}
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="off"
              value={form.secret}
              onChange={({ target }) => onChange({ secret: target.value })}
            />
          )}
        </Field>
      )}
      {isWebhook && fieldNames.filter((name) => neededByWebhook.includes(name)).map((name) => pathField(name, true))}
      <details className="form-advanced">
        <summary>Paths and values</summary>
        <div className="form">
          {fieldNames
            .filter((name) => !isWebhook || !neededByWebhook.includes(name))
            .map((name) => pathField(name, false))}
          <TextField
            label={labels.positive_values}
            hint="Separated by commas, beside common words such as up, good, yes, true and 1."
            value={form.positive}
            onChange={(positive) => onChange({ positive })}
          />
          <TextField
            label={labels.negative_values}
            hint="Separated by commas, beside down, bad, no, false, 0 and -1."
            value={form.negative}
            onChange={(negative) => onChange({ negative })}
          />
          <Field label={labels.midpoint} hint="Numbers above count as positive, those below as negative.">
            {(control) => (
              <input
                {...control}
                type="number"
                step="any"
                value={form.midpoint}
                onChange={({ target }) => onChange({ midpoint: target.value })}
              />
            )}
          </Field>
        </div>
      </details>
    </>
  )
}

interface TextProps {
  label: string
  hint: string
  placeholder?: string
  isRequired?: boolean
  value: string
  onChange: (value: string) => void
}

function TextField({ label, hint, placeholder = '', isRequired = false, value, onChange }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          required={isRequired}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
