interface Option<Value> {
  value: Value
  label: string
}

interface Props<Value> {
  /** What the buttons choose, for screen readers. */
  label: string
  options: readonly Option<Value>[]
  isSelected: (value: Value) => boolean
  onSelect: (value: Value) => void
}

/** Buttons beside each other. One or several are pressed. */
export function ToggleGroup<Value>({ label, options, isSelected, onSelect }: Props<Value>) {
  return (
    <fieldset className="toggle-group">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.label}
          type="button"
          aria-pressed={isSelected(option.value)}
          onClick={() => onSelect(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
