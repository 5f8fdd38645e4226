import type { Effect, RatedTally, Regression, TimelineEntry } from '@promptledger/client'
import { Link } from 'wouter'
import { ratesOf } from '../regressions/regression-words.tsx'
import { useShowsSignals } from '../shared/shared-query.ts'
import { isShared } from '../shared/token.ts'
import { ChangeSegments } from '../signals/change-segments.tsx'
import { NegativeComments } from '../signals/negative-comments.tsx'
import { signalsPath } from '../signals/signal-filter.ts'
import { ChangeTrial } from '../trials/prompt-trial.tsx'
import { trialOf, useTrialsOf } from '../trials/trial-query.ts'
import { ActionIcon } from '../ui/action-icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { PageLink } from '../ui/page-link.tsx'
import { formatPercent, formatPoints, formatTally } from '../ui/percent.ts'
import { Term } from '../ui/term.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { ChangeDiff } from './change-diff.tsx'
import { ChangeLift } from './change-lift.tsx'
import { EntryMeta, PullCourse } from './entry-meta.tsx'
import { parseMessage, titleOf } from './entry-title.ts'
import { promptPath, regressionPath } from './prompt-path.ts'

interface Props {
  promptId: string
  item: TimelineEntry
  /** The open regression that the change caused. */
  regression: Regression | null
}

/** Everything about a change that decides what to do about it. */
export function ChangeContent({ promptId, item, regression }: Props) {
  const { entry, impact } = item
  const { body } = parseMessage(item.message)
  const trial = trialOf(useTrialsOf(promptId).data, entry)
  const showsSignals = useShowsSignals()
  return (
    <>
      <header className="change-head">
        <h2>
          <ActionIcon action={entry.action} />
          <span>
            <UntrustedText text={titleOf(entry, item.message)} />
          </span>
        </h2>
        {impact !== null && <Verdict verdict={impact.verdict} isFirst={impact.first_version} />}
        <EntryMeta item={item}>
          <PullCourse item={item} />
        </EntryMeta>
      </header>
      {regression !== null && (
        <Notice tone="bad">
          <PageLink href={regressionPath(regression)}>Open regression: {ratesOf(regression)}</PageLink>.
          {!isShared && ' Fix it, revert it, or dismiss it there.'}
        </Notice>
      )}
      {trial !== null && <ChangeTrial trial={trial} />}
      {impact !== null && <ChangeFigures promptId={promptId} entryId={entry.id} impact={impact} />}
      {impact !== null && <ChangeLift key={entry.id} promptId={promptId} entryId={entry.id} impact={impact} />}
      <section className="change-diff" aria-labelledby="diff-title">
        <h3 id="diff-title">
          Change
          {impact !== null && !isShared && (
            // Without another version, the page compares it with the one before.
            <Link href={`${promptPath(promptId)}/compare?b=${entry.id}`}>Compare side by side</Link>
          )}
        </h3>
        {body !== '' && (
          <p className="entry-message">
            <UntrustedText text={body} />
          </p>
        )}
        <ChangeDiff promptId={promptId} entryId={entry.id} />
      </section>
      {impact !== null && (
        <>
          {showsSignals && <NegativeComments promptId={promptId} entryId={entry.id} />}
          {!isShared && <ChangeSegments promptId={promptId} entryId={entry.id} />}
          <LiveTimes impact={impact} />
        </>
      )}
    </>
  )
}

/** When a change was live, and how that is known. */
function LiveTimes({ impact }: { impact: Effect }) {
  const { live_windows: windows, unattributed } = impact
  return (
    <>
      <ul className="live-times" aria-label="When it was live">
        {windows.map(({ from, until, share, live_source: source, environment }) => (
          <li key={from}>
            Live from <Time at={from} />
            {until !== null && (
              <>
                {' '}
                until <Time at={until} />
              </>
            )}
            , {source === 'merge' ? 'by its merge' : <Deployed environment={environment} share={share} />}
          </li>
        ))}
      </ul>
      {unattributed > 0 && (
        <p className="live-times">
          {formatNumber(unattributed)} of the signals after the change named no version and came while another version
          was live too.
        </p>
      )}
    </>
  )
}

function Deployed({ environment, share }: { environment: string | null; share: number }) {
  return (
    <>
      deployed to <UntrustedText text={environment ?? 'production'} />
      {share < 1 && ` (${formatPercent(share)} of traffic)`}
    </>
  )
}

interface ChangeFiguresProps {
  promptId: string
  entryId: number
  impact: Effect
}

/** User feedback before and after a change, and what the verdict on it rests on. */
function ChangeFigures({ promptId, entryId, impact }: ChangeFiguresProps) {
  return (
    <section className="change-figures" aria-label="Figures">
      <dl className={`change-rates ${impact.verdict}`}>
        <Side name="Before" tally={impact.before} href={signalsPath(promptId, { change: entryId, side: 'before' })} />
        <Side name="After" tally={impact.after} href={signalsPath(promptId, { change: entryId, side: 'after' })} />
      </dl>
      <p>
        {impact.explanation} <Difference {...impact} />
      </p>
      <RatedAnswers {...impact} />
      <JudgeScores {...impact} />
    </section>
  )
}

/** How many answers were rated. A fall is news, and decides nothing. */
function RatedAnswers({ before, after, exposures }: Effect) {
  if (exposures === null || exposures.after === 0) return null
  const side = ({ positive, negative }: RatedTally, calls: number) =>
    `${formatPercent(Math.min(1, (positive + negative) / calls))} of ${countOf(calls, 'answer')}`
  return (
    <p className="muted">
      Users rated {side(after, exposures.after)}
      {exposures.before ? `, and ${side(before, exposures.before)} before the change` : ''}.
    </p>
  )
}

/** Scores of judges, apart from the votes of people. */
function JudgeScores({ evaluations }: Effect) {
  if (evaluations.length === 0) return null
  return (
    <ul className="live-times" aria-label="Scores of judges">
      {evaluations.map(({ name, before, after }) => (
        <li key={name}>
          Judge <UntrustedText text={name} />: {formatTally(before)} → {formatTally(after)} positive, of{' '}
          {countOf(after.positive + after.negative, 'score')}
        </li>
      ))}
    </ul>
  )
}

interface SideProps {
  name: string
  tally: RatedTally
  href: string
}

function Side({ name, tally, href }: SideProps) {
  const { positive, negative } = tally
  const total = positive + negative
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{formatTally(tally)}</strong>
        {total === 0 ? (
          <span className="muted">No signals</span>
        ) : (
          <PageLink href={href}>
            {formatNumber(positive)} of {countOf(total, 'signal')}
          </PageLink>
        )}
      </dd>
    </div>
  )
}

function Difference({ difference, interval }: Effect) {
  if (difference === null || interval === null) return null
  const [low, high] = interval.map(formatPoints) as [string, string]
  return (
    <>
      Difference: {formatPoints(difference)} percentage points{' '}
      <span className="nowrap">
        (<Term name="confidence_range">95% confidence range</Term>:
      </span>{' '}
      {low} to {high}).
    </>
  )
}
