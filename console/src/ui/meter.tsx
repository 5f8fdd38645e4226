interface Props {
  label: string
  value: number
  max: number
  tone: 'accent' | 'caution' | 'bad'
  /** The value in words, for screen readers. */
  text: string
}

export function Meter({ label, value, max, tone, text }: Props) {
  const share = max === 0 ? 1 : Math.min(1, value / max)
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers do not agree on how to style <meter>.
    <div
      className={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={text}
    >
      {share > 0 && <span style={{ width: `${share * 100}%` }} />}
    </div>
  )
}
