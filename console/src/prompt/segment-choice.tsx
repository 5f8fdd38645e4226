import { countOf, formatNumber } from '../ui/number.ts'
import { formatTally } from '../ui/percent.ts'
import { Time } from '../ui/time.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import type { SetParams } from '../url-params.ts'
import type { SegmentLines } from './chart-segments.ts'

/** Draws a line for each of the largest segments. The key is `lines` in the URL. */
export function SegmentChoice({
  keys,
  shown,
  onChange,
}: {
  keys: string[]
  shown: string | null
  onChange: SetParams
}) {
  if (keys.length === 0) return null
  return (
    <div className="segment-choice">
      <span className="muted small" aria-hidden="true">
        Lines by
      </span>
      <ToggleGroup
        label="Lines by segment"
        options={keys.map((key) => ({ value: key, label: key }))}
        isSelected={(key) => key === shown}
        onSelect={(key) => onChange({ lines: key === shown ? null : key })}
      />
    </div>
  )
}

/** Which line is which segment. */
export function SegmentLegend({ segments: { key, lines, others, countedFrom } }: { segments: SegmentLines }) {
  return (
    <div className="segment-legend">
      <ul className="legend" aria-label={`Segments by ${key}`}>
        {lines.map(({ value, total }, i) => (
          <li key={value}>
            <svg width="26" height="8" aria-hidden="true">
              <line className={`chart-segment segment-${i + 1}`} x1="0" x2="26" y1="4" y2="4" />
            </svg>{' '}
            <span>
              {value === null ? <em>none</em> : <UntrustedText text={value} />}: {formatTally(total)} of{' '}
              {formatNumber(total.positive + total.negative)}
            </span>
          </li>
        ))}
      </ul>
      {(others > 0 || countedFrom !== null) && (
        <p className="muted small">
          {others > 0 && `${countOf(others, 'smaller segment')} without a line. `}
          {countedFrom !== null && (
            <>
              Only the newest signals are counted, since <Time at={countedFrom} as="date" />.
            </>
          )}
        </p>
      )}
    </div>
  )
}
