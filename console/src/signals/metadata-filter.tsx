import { Plus } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { usePromptSegments } from './segment-query.ts'

interface Props {
  promptId: string
  onAdd: (name: string, value: string) => void
}

/** Adds a filter on one member of the metadata. Declared keys are suggested; any other works too. */
export function MetadataFilter({ promptId, onAdd }: Props) {
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
