import type { HistoryEntry, TimelineEntry } from '@promptledger/client'
import { ChevronDown } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { ActionIcon, actionNames } from '../ui/action.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { Time } from '../ui/time.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { Entry } from './entry.tsx'
import { readMessage } from './message.ts'

interface Props {
  promptId: string
  items: TimelineEntry[]
  /** The entry that is open. */
  open: number | null
  onOpen: (id: number | null) => void
  /** The entry that is pointed at, here or in the chart. */
  pointed: number | null
  onPoint: (id: number | null) => void
}

const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' })

export function Timeline({ items, ...rest }: Props) {
  const months = Map.groupBy(items, ({ entry }) => month.format(new Date(entry.created_at)))
  return (
    <div className="timeline">
      {[...months].map(([name, entries]) => (
        <section key={name} aria-label={name}>
          <h3>{name}</h3>
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

function TimelineItem({
  promptId,
  item,
  open,
  onOpen,
  pointed,
  onPoint,
}: Omit<Props, 'items'> & { item: TimelineEntry }) {
  const { entry, impact, commit_url: commitUrl } = item
  const { title } = readMessage(item.message)
  const isOpen = open === entry.id
  const element = useArrival(isOpen)
  const bodyId = `entry-${entry.id}`
  return (
    <li
      ref={element}
      className="timeline-item"
      data-pointed={pointed === entry.id}
      onPointerEnter={() => onPoint(entry.id)}
      onPointerLeave={() => onPoint(null)}
      onFocus={() => onPoint(entry.id)}
      onBlur={() => onPoint(null)}
    >
      <ActionIcon action={entry.action} />
      <div className="timeline-body">
        <div className="timeline-head">
          <button
            type="button"
            className="timeline-title"
            aria-expanded={isOpen}
            aria-controls={bodyId}
            onClick={() => onOpen(isOpen ? null : entry.id)}
          >
            <span>{title ?? nameOf(entry)}</span>
            <ChevronDown aria-hidden="true" />
          </button>
          {impact !== null && <Verdict verdict={impact.verdict} />}
        </div>
        <p className="timeline-facts">
          <span title={entry.user.email}>{entry.user.name}</span>
          <Time at={entry.created_at} />
          {entry.pr_url !== null && <OutsideLink to={entry.pr_url}>#{entry.pr_number}</OutsideLink>}
          {commitUrl === null ? (
            <code>{entry.commit_sha.slice(0, 7)}</code>
          ) : (
            <OutsideLink to={commitUrl}>
              <code>{entry.commit_sha.slice(0, 7)}</code>
            </OutsideLink>
          )}
          <code className="branch">{entry.branch_name}</code>
          {title !== null && <span>{actionNames[entry.action]}</span>}
        </p>
        <div id={bodyId}>{isOpen && <Entry promptId={promptId} item={item} />}</div>
      </div>
    </li>
  )
}

/** What happened, where nobody said. */
function nameOf({ action, pr_number: number }: HistoryEntry): string {
  return number === null ? actionNames[action] : `${actionNames[action]} #${number}`
}

/** Whoever opens an entry from elsewhere, by the chart or by an address, is brought to it. */
function useArrival(isOpen: boolean) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const { top, bottom } = element.current?.getBoundingClientRect() ?? { top: 0, bottom: 0 }
    if (isOpen && (top < 0 || bottom > window.innerHeight)) element.current?.scrollIntoView({ block: 'start' })
  }, [isOpen])
  return element
}
