import type { HistoryEntry, TimelineEntry } from '@promptledger/client'
import { ChevronDown, EyeOff } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { ActionIcon, actionLabels } from '../ui/action-icon.tsx'
import { Badge } from '../ui/badge.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { parseMessage } from './commit-message.ts'
import { EntryDetails } from './entry-details.tsx'

interface Props {
  promptId: string
  items: TimelineEntry[]
  /** The ID of the open entry. */
  open: number | null
  onOpen: (id: number | null) => void
  /** The ID of the entry that is highlighted here and in the chart. */
  highlighted: number | null
  onHighlight: (id: number | null) => void
}

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' })

export function Timeline({ items, ...rest }: Props) {
  const months = Map.groupBy(items, ({ entry }) => monthFormat.format(new Date(entry.created_at)))
  return (
    <div className="timeline">
      {[...months].map(([month, entries]) => (
        <section key={month} aria-label={month}>
          <h3>{month}</h3>
          <ol>
            {entries.map((item) => (
              <TimelineItem key={item.entry.id} item={item} {...rest} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}

interface ItemProps extends Omit<Props, 'items'> {
  item: TimelineEntry
}

function TimelineItem({ promptId, item, open, onOpen, highlighted, onHighlight }: ItemProps) {
  const { entry, impact, commit_url: commitUrl } = item
  const { title } = parseMessage(item.message)
  const isOpen = open === entry.id
  const element = useScrollIntoView(isOpen)
  const detailsId = `entry-${entry.id}`
  return (
    <li
      ref={element}
      className="timeline-item"
      data-highlighted={highlighted === entry.id}
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
            aria-expanded={isOpen}
            aria-controls={detailsId}
            onClick={() => onOpen(isOpen ? null : entry.id)}
          >
            <span>
              <UntrustedText text={title ?? fallbackTitle(entry)} />
            </span>
            <ChevronDown aria-hidden="true" />
          </button>
          <span className="timeline-badges">
            {item.hidden_characters?.added && (
              <Badge tone="bad" icon={EyeOff}>
                Adds hidden characters
              </Badge>
            )}
            {impact !== null && <Verdict verdict={impact.verdict} />}
          </span>
        </div>
        <p className="timeline-meta">
          <span title={visibleText(entry.user.email)}>
            <UntrustedText text={entry.user.name} />
          </span>
          <Time at={entry.created_at} />
          {entry.pr_url !== null && <ExternalLink to={entry.pr_url}>#{entry.pr_number}</ExternalLink>}
          {commitUrl === null ? (
            <code>{entry.commit_sha.slice(0, 7)}</code>
          ) : (
            <ExternalLink to={commitUrl}>
              <code>{entry.commit_sha.slice(0, 7)}</code>
            </ExternalLink>
          )}
          <code>
            <UntrustedText text={entry.branch_name} />
          </code>
          {title !== null && <span>{actionLabels[entry.action]}</span>}
        </p>
        <div id={detailsId}>{isOpen && <EntryDetails promptId={promptId} item={item} />}</div>
      </div>
    </li>
  )
}

/** For entries without a message. */
function fallbackTitle({ action, pr_number: number }: HistoryEntry): string {
  return number === null ? actionLabels[action] : `${actionLabels[action]} #${number}`
}

/** Scrolls to an entry that was opened from the chart or by its URL. */
function useScrollIntoView(isOpen: boolean) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const { top, bottom } = element.current?.getBoundingClientRect() ?? { top: 0, bottom: 0 }
    if (isOpen && (top < 0 || bottom > window.innerHeight)) element.current?.scrollIntoView({ block: 'start' })
  }, [isOpen])
  return element
}
