import type { Trial } from '@promptledger/client'
import { Link } from 'wouter'
import { Notice } from '../ui/notice.tsx'
import { formatPoints } from '../ui/percent.ts'
import { Time } from '../ui/time.tsx'
import { trialPath, useTrialsOf } from './trial-query.ts'
import { candidateOf, formatShare, outcomeOf } from './trial-words.tsx'

/** Leads from a prompt to the trial that runs on it, or to the last one. */
export function PromptTrial({ promptId }: { promptId: string }) {
  const { data: trials = [] } = useTrialsOf(promptId)
  const [last] = trials
  if (last === undefined) return null
  const others = trials.length > 1 && (
    <>
      {' '}
      <Link href={`/trials?prompt=${encodeURIComponent(promptId)}`}>All {trials.length} trials</Link>
    </>
  )
  if (last.state === 'ended') {
    return (
      <p className="prompt-trial muted">
        Last trial: <Link href={trialPath(last)}>{candidateOf(last)}</Link>, {outcomeOf(last)},{' '}
        <Time at={last.ended_at ?? last.started_at} as="date" />.{others}
      </p>
    )
  }
  return (
    <section className="prompt-trial" aria-label="Trial">
      <Notice>
        <Link href={trialPath(last)}>
          <strong>
            {last.state === 'paused'
              ? `The trial of ${candidateOf(last)} is paused`
              : `${formatShare(last.share)} of users get ${candidateOf(last)} in a trial`}
          </strong>
        </Link>
        {(last.verdict !== null || last.mismatch) && `: ${outcomeOf(last)}`}.{others}
      </Notice>
    </section>
  )
}

/** For the entry of a change in the history. */
export function TrialLink({ trial }: { trial: Trial }) {
  return <Link href={trialPath(trial)}>Trial: {outcomeOf(trial)}</Link>
}

/** Names the trial of a change beside the verdict on it. */
export function ChangeTrial({ trial }: { trial: Trial }) {
  const { difference } = trial
  return (
    <Notice>
      There is a <Link href={trialPath(trial)}>randomised trial</Link> of this change: {outcomeOf(trial)}
      {difference !== null && !trial.mismatch && `, ${formatPoints(difference)} percentage points`}.
    </Notice>
  )
}
