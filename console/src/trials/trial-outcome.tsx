import type { Trial } from '@promptledger/client'
import { Notice } from '../ui/notice.tsx'
import { countOf } from '../ui/number.ts'
import { formatPercent } from '../ui/percent.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { endings, formatShare } from './trial-words.tsx'

/** What the trial found, what to do now, and which keys to doubt. */
export function TrialOutcome({ trial }: { trial: Trial }) {
  return (
    <>
      <Outcome trial={trial} />
      {trial.disagreeing_keys?.map(({ id, name }) => (
        <Notice key={id} tone="caution">
          The key “<UntrustedText text={name} />” reports units in another share than promised.
        </Notice>
      ))}
    </>
  )
}

function Outcome({ trial }: { trial: Trial }) {
  const { verdict, mismatch, state, pr_number: pull, ended_by: ending } = trial
  if (mismatch) return <Mismatch trial={trial} />
  if (verdict === 'worse') {
    return (
      <Notice tone="bad">
        The candidate is <strong>worse</strong> than the live version. The trial has ended, and everyone gets the live
        version.
      </Notice>
    )
  }
  if (verdict === 'better') {
    return (
      <Notice tone="good">
        The candidate is <strong>better</strong> than the live version.{' '}
        {state === 'ended'
          ? ending !== null && `The trial has ended: ${endings[ending]}.`
          : `Merge ${pull === null ? 'it' : `pull request #${pull}`} when you are ready. That ends the trial.`}
      </Notice>
    )
  }
  return (
    <Notice>
      {state === 'ended' && ending !== null && `The trial ended without a verdict: ${endings[ending]}.`}
      {state === 'paused' && 'The trial is paused: everyone gets the live version.'}
      {state === 'running' && <Waiting {...trial} />}
    </Notice>
  )
}

function Waiting({ days_left: days, control, candidate }: Trial) {
  if (days !== null) {
    return (
      <>
        No verdict yet. At the traffic of the last day, expect one in about{' '}
        <strong>{days < 1 ? 'a day' : countOf(Math.round(days), 'day')}</strong>.
      </>
    )
  }
  return control.voters + candidate.voters === 0
    ? 'No votes yet. Votes count if they name the version that your application got, and the unit as voter.'
    : 'No verdict yet. There are too few votes to tell how long it will take.'
}

function Mismatch({ trial: { control, candidate, share } }: { trial: Trial }) {
  return (
    <Notice tone="caution">
      <p>
        <strong>This trial cannot be judged:</strong> units or voters did not come in the promised share. The candidate
        was promised {formatShare(share)} of both. It has {partOf(candidate.exposures, control.exposures)} of the units
        served, and {partOf(candidate.voters, control.voters)} of the voters.
      </p>
      <ul className="plain-list">
        <li>If the share of units is off, the application does not pass the same unit with each call.</li>
        <li>
          If only the share of voters is off, compare the votes per unit: one version may crash, or keep people from
          voting. Or the voter of a vote is not the unit that got the text.
        </li>
      </ul>
      <p>Repair the cause, end this trial, and start another one.</p>
    </Notice>
  )
}

function partOf(candidate: number, control: number): string {
  return candidate + control === 0 ? '0%' : formatPercent(candidate / (candidate + control))
}
