interface Props {
  label: string
  value: number
  most: number
  tone: 'accent' | 'caution' | 'bad'
  /** The same in words. */
  text: string
}

/** How much of something is used. */
export function Meter({ label, value, most, tone, text }: Props) {
  const share = most === 0 ? 1 : Math.min(1, value / most)
  return (
    // biome-ignore lint/a11y/useSemanticElements: no two browsers let the element be drawn alike.
    <div
      className={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={most}
      aria-valuenow={Math.min(value, most)}
      aria-valuetext={text}
    >
      <span style={{ width: `${share * 100}%` }} />
    </div>
  )
}
