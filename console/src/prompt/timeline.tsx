import type { TimelineEntry, Trial } from '@promptledger/client'
import { ChevronRight, EyeOff } from 'lucide-react'
import { memo } from 'react'
import { TrialLink } from '../trials/prompt-trial.tsx'
import { trialOf } from '../trials/trial-query.ts'
import { ActionIcon } from '../ui/action-icon.tsx'
import { Badge } from '../ui/badge.tsx'
import { dateFormat } from '../ui/locale.ts'
import { formatTally } from '../ui/percent.ts'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { EntryMeta, PullCourse } from './entry-meta.tsx'
import { titleOf } from './entry-title.ts'

interface Props {
  items: TimelineEntry[]
  /** The trials of the prompt, newest first. */
  trials: Trial[] | undefined
  /** The ID of the selected entry. */
  open: number | null
  onOpen: (id: number | null) => void
  /** The ID of the entry that is highlighted here and in the chart. */
  highlighted: number | null
  onHighlight: (id: number | null) => void
}

const monthFormat = dateFormat({ month: 'long', year: 'numeric' })

export function Timeline({ items, trials, open, highlighted, ...rest }: Props) {
  const months = Map.groupBy(items, ({ entry }) => monthFormat.format(new Date(entry.created_at)))
  return (
    <div className="timeline">
      {[...months].map(([month, entries]) => (
        <section key={month} aria-label={month}>
          <h3>{month}</h3>
          <ol>
            {entries.map((item) => (
              <TimelineItem
                key={item.entry.id}
                item={item}
                trial={trialOf(trials, item.entry)}
                isOpen={open !== null && (open === item.entry.id || open === item.pull?.opened?.entry_id)}
                isHighlighted={highlighted === item.entry.id}
                {...rest}
              />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}

interface ItemProps extends Pick<Props, 'onOpen' | 'onHighlight'> {
  item: TimelineEntry
  trial: Trial | null
  isOpen: boolean
  isHighlighted: boolean
}

// Pointing at one of hundreds of entries must not render the others.
const TimelineItem = memo(function TimelineItem(props: ItemProps) {
  const { item, trial, isOpen, isHighlighted, onOpen, onHighlight } = props
  const { entry, impact } = item
  return (
    <li
      className="timeline-item"
      data-highlighted={isHighlighted}
      data-open={isOpen}
      onPointerEnter={() => onHighlight(entry.id)}
      onPointerLeave={() => onHighlight(null)}
      onFocus={() => onHighlight(entry.id)}
      onBlur={() => onHighlight(null)}
    >
      <ActionIcon action={entry.action} />
      <div className="timeline-body">
        <div className="timeline-head">
          <button
            type="button"
            className="timeline-title"
            data-opens={entry.id}
            aria-expanded={isOpen}
            onClick={() => onOpen(isOpen ? null : entry.id)}
          >
            <span title={visibleText(titleOf(entry, item.message))}>
              <UntrustedText text={titleOf(entry, item.message)} />
            </span>
            <ChevronRight aria-hidden="true" />
          </button>
          <span className="timeline-badges">
            {item.hidden_characters?.added && (
              <Badge tone="bad" icon={EyeOff}>
                Adds hidden characters
              </Badge>
            )}
            {impact !== null && (
              <>
                <Rates {...impact} />
                <Verdict verdict={impact.verdict} isFirst={impact.first_version} />
              </>
            )}
          </span>
        </div>
        <EntryMeta item={item}>
          <PullCourse item={item} />
          {trial !== null && <TrialLink trial={trial} />}
        </EntryMeta>
      </div>
    </li>
  )
})

type Impact = NonNullable<TimelineEntry['impact']>

function Rates({ before, after }: Pick<Impact, 'before' | 'after'>) {
  if (after.rate === null) return null
  const rates = before.rate === null ? [after] : [before, after]
  return <span className="timeline-rates">{rates.map(formatTally).join(' → ')}</span>
}
