import { type Effect, NotFoundError } from '@promptledger/client'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { Link } from 'wouter'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { Detail } from '../ui/detail.tsx'
import { formatNumber } from '../ui/number.ts'
import { formatPercent, formatTally } from '../ui/percent.ts'
import { Time } from '../ui/time.tsx'
import { VersionFacts } from './version-facts.tsx'
import { VersionPicker } from './version-picker.tsx'
import { useNeighbours } from './version-queries.ts'

interface Props {
  label: 'From' | 'To'
  promptId: string
  entryId: number
  /** The page with another version on this side. */
  hrefOf: (entryId: number) => string
}

/** One side of a comparison: the version, a way to others, and its figures. */
export function ComparedVersion({ label, promptId, entryId, hrefOf }: Props) {
  const item = useTimelineEntry(promptId, entryId)
  const neighbours = useNeighbours(promptId, entryId)
  const { older = null, newer = null } = neighbours.data ?? {}
  const isUnknown = item.error instanceof NotFoundError
  return (
    <section className="card compared-version" aria-label={label}>
      <div className="compared-steps">
        <h3>{label}</h3>
        <Step to={older} hrefOf={hrefOf} name={`Older version on the side ${label}`}>
          <ChevronLeft aria-hidden="true" />
          Older
        </Step>
        <Step to={newer} hrefOf={hrefOf} name={`Newer version on the side ${label}`}>
          Newer
          <ChevronRight aria-hidden="true" />
        </Step>
      </div>
      <VersionPicker label={label} promptId={promptId} entryId={entryId} item={item.data} hrefOf={hrefOf} />
      {isUnknown && <p className="form-error">This prompt has no history entry {entryId}. Choose another version.</p>}
      {item.data && <VersionFacts entry={item.data.entry} commitUrl={item.data.commit_url} />}
      {item.data && <Figures impact={item.data.impact} />}
    </section>
  )
}

interface StepProps {
  to: number | null
  hrefOf: Props['hrefOf']
  name: string
  children: React.ReactNode
}

function Step({ to, hrefOf, name, children }: StepProps) {
  if (to === null) {
    return (
      <span className="text-button" aria-hidden="true" data-disabled="true">
        {children}
      </span>
    )
  }
  return (
    <Link className="text-button" href={hrefOf(to)} aria-label={name}>
      {children}
    </Link>
  )
}

function Figures({ impact }: { impact: Effect | null }) {
  if (impact === null) return <p className="muted small">This change did not go live, so it has no figures.</p>
  const { positive, negative } = impact.after
  return (
    <dl className="compared-figures">
      <Detail name="Positive">
        <strong>{formatTally(impact.after)}</strong>
      </Detail>
      <Detail name="Signals">{formatNumber(positive + negative)}</Detail>
      <Detail name="Live">
        <LiveSpan impact={impact} />
      </Detail>
    </dl>
  )
}

/** When the version was live last, and how often. */
function LiveSpan({ impact: { live_windows: windows } }: { impact: Effect }) {
  const last = windows.at(-1)
  if (last === undefined) return '–'
  return (
    <>
      {windows.length > 1 && `${windows.length} times, last `}
      {last.until === null ? 'since ' : ''}
      <Time at={last.from} as="date" />
      {last.until !== null && (
        <>
          {' – '}
          <Time at={last.until} as="date" />
        </>
      )}
      {last.share < 1 && `, ${formatPercent(last.share)} of traffic`}
    </>
  )
}
