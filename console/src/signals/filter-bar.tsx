import type { SignalFilter } from '@promptledger/client'
import { MessageSquare, Plus } from 'lucide-react'
import { type FormEvent, useCallback, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { useDraft } from '../ui/draft.ts'
import { TimeField } from '../ui/iso-input.tsx'
import { useIsPhone } from '../ui/media-query.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import type { SetParams } from '../url-params.ts'
import { usePromptSegments } from './segments.tsx'
import { memberParameter } from './signal-filter.ts'
import { valueLabels } from './signal-value.tsx'

interface Props {
  promptId: string
  filter: SignalFilter
  onChange: SetParams
}

const values = [
  { label: 'All', value: undefined },
  { label: valueLabels.positive, value: 'positive' },
  { label: valueLabels.negative, value: 'negative' },
] as const

/** Each filter is in the URL. Typing replaces the current step of the history; everything else is a new one. */
export function FilterBar({ promptId, filter, onChange }: Props) {
  const hasComment = filter.comment === 'any'
  const hasMore = filter.since !== undefined || filter.until !== undefined || filter.version !== undefined
  const isPhone = useIsPhone()
  return (
    <search aria-label="Filter signals">
      <div className="filter-bar">
        <ToggleGroup
          label="Value"
          options={values}
          isSelected={(value) => value === filter.value}
          onSelect={(value) => onChange({ value: value ?? null })}
        />
        <div className="toggle-group">
          <button
            type="button"
            aria-pressed={hasComment}
            onClick={() => onChange({ comment: hasComment ? null : 'any' })}
          >
            <MessageSquare aria-hidden="true" />
            With comment
          </button>
        </div>
        <TextParameter name="q" label="Comment" placeholder="Part of the comment" filter={filter} onChange={onChange} />
      </div>
      <details className="more-filters" open={hasMore || !isPhone}>
        <summary>More filters</summary>
        <div className="filter-bar">
          <TimeField label="From" at={filter.since?.toString() ?? null} onChange={(since) => onChange({ since })} />
          <TimeField label="Before" at={filter.until?.toString() ?? null} onChange={(until) => onChange({ until })} />
          <TextParameter
            name="version"
            label="Version"
            placeholder="Commit or entry ID"
            filter={filter}
            onChange={onChange}
          />
          <MetadataFilter promptId={promptId} onAdd={(name, value) => onChange({ [memberParameter(name)]: value })} />
        </div>
      </details>
    </search>
  )
}

interface ParameterProps extends Omit<Props, 'promptId'> {
  name: 'q' | 'version'
  label: string
  placeholder: string
}

function TextParameter({ name, label, placeholder, filter, onChange }: ParameterProps) {
  const type = useCallback((text: string) => onChange({ [name]: text }, { replace: true }), [name, onChange])
  const submit = useCallback(
    (text: string, before: string) => {
      // Back leads to the list from before the search, not to one of a text that was typed halfway.
      onChange({ [name]: before }, { replace: true })
      onChange({ [name]: text })
    },
    [name, onChange],
  )
  return (
    <TextFilter label={label} placeholder={placeholder} text={filter[name] ?? ''} onType={type} onSubmit={submit} />
  )
}

interface TextFilterProps {
  label: string
  placeholder: string
  text: string
  onType: (text: string) => void
  /** On Enter. `before` is the text from before the user began to type. */
  onSubmit: (text: string, before: string) => void
}

const typingDelayMs = 400

/** A filter on text, applied shortly after the last key, or at once with Enter. */
function TextFilter({ label, placeholder, text: current, onType, onSubmit }: TextFilterProps) {
  const id = useId()
  const [text, setText] = useDraft(current)
  const before = useRef(current)
  useEffect(() => {
    if (text === current) return
    const timer = setTimeout(() => onType(text), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text, current, onType])
  return (
    <form
      className="filter-field"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(text, before.current)
        before.current = text
      }}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        placeholder={placeholder}
        value={text}
        onFocus={() => {
          before.current = current
        }}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  )
}

interface MetadataFilterProps {
  promptId: string
  onAdd: (name: string, value: string) => void
}

/** Adds a filter on one member of the metadata. Declared keys are suggested; any other works too. */
function MetadataFilter({ promptId, onAdd }: MetadataFilterProps) {
  const id = useId()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const declared = usePromptSegments(promptId)
  function add(event: FormEvent) {
    event.preventDefault()
    onAdd(name.trim(), value)
    setName('')
    setValue('')
  }
  return (
    <form className="filter-field metadata-filter" onSubmit={add}>
      <label htmlFor={id}>Metadata</label>
      <input
        id={id}
        required
        pattern=".*\S.*"
        title="The name of a member of the metadata, such as model"
        placeholder="Key"
        list={`${id}-keys`}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <datalist id={`${id}-keys`}>
        {declared.data?.keys.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <input
        required
        aria-label="Value of the metadata"
        placeholder="Value"
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Button type="submit" aria-label="Add the metadata filter">
        <Plus aria-hidden="true" />
        Add
      </Button>
    </form>
  )
}
