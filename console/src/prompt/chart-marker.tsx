import type { TimelineEntry } from '@promptledger/client'
import { actionLabels } from '../ui/action-icon.tsx'
import { formatTime } from '../ui/time.tsx'
import { visibleText } from '../ui/untrusted-text.tsx'
import { parseMessage } from './commit-message.ts'

interface Props {
  item: TimelineEntry
  x: number
  /** Where the marker's line ends. */
  bottom: number
  isHighlighted: boolean
  onHighlight: (id: number | null) => void
  onOpen: (id: number) => void
}

/** Height of the strip above the plot that holds the markers. */
export const markerStripHeight = 28

const dotY = 13

/** Marks when a change went live. For pointers only: the timeline offers the same to the keyboard. */
export function ChartMarker({ item, x, bottom, isHighlighted, onHighlight, onOpen }: Props) {
  const { entry, impact, message } = item
  const title = parseMessage(message).title ?? actionLabels[entry.action]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the timeline below has a button for each change.
    <g
      className={`chart-marker ${impact?.verdict ?? ''}`}
      data-highlighted={isHighlighted}
      onPointerEnter={() => onHighlight(entry.id)}
      onPointerLeave={() => onHighlight(null)}
      onClick={() => onOpen(entry.id)}
    >
      <title>{visibleText(`${title}\n${entry.user.name}, ${formatTime(new Date(entry.created_at))}`)}</title>
      <line x1={x} x2={x} y1={dotY + 7} y2={bottom} />
      <rect x={x - 9} y={0} width={18} height={markerStripHeight} />
      <circle cx={x} cy={dotY} r={isHighlighted ? 7 : 5} />
    </g>
  )
}
