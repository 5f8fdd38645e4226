import type { Regression } from '@promptledger/client'
import type { ReactNode } from 'react'
import { changePath } from '../prompt/prompt-path.ts'
import { PageLink } from '../ui/page-link.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Step {
  at: string
  text: ReactNode
}

/** What happened to a regression, in order of time. */
export function RegressionHistory({ regression }: { regression: Regression }) {
  const steps = stepsOf(regression)
  return (
    <ol className="regression-history card">
      {steps.map(({ at, text }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the steps are never reordered.
        <li key={i}>
          <Time at={at} />
          <div>{text}</div>
        </li>
      ))}
    </ol>
  )
}

function stepsOf(regression: Regression): Step[] {
  const { change, opened_at: openedAt, repaired_at: repairedAt, withdrawn_at: withdrawnAt } = regression
  const { dismissed_at: dismissedAt } = regression
  const steps: (Step | null)[] = [
    {
      at: regression.live_from ?? change.created_at,
      text: (
        <>
          The change by <UntrustedText text={change.user.name} /> went live
        </>
      ),
    },
    { at: openedAt, text: 'The votes showed that it made the prompt worse' },
    repairedAt === null ? null : { at: repairedAt, text: <Repaired {...regression} /> },
    withdrawnAt === null ? null : { at: withdrawnAt, text: 'Withdrawn: the votes no longer speak against the change' },
    dismissedAt === null ? null : { at: dismissedAt, text: <Dismissed {...regression} /> },
  ]
  return steps.filter((step) => step !== null)
}

function Repaired({ prompt, repaired_by: by, repaired_entry: entry }: Regression) {
  return (
    <>
      {by === 'revert' ? 'Repaired: the change was reverted' : 'Repaired: the rate is back'}
      {entry !== null && (
        <>
          {by === 'revert' ? ' by ' : ' after a change by '}
          <PageLink href={changePath(prompt.id, entry.id)}>
            <UntrustedText text={entry.user.name} />
          </PageLink>
        </>
      )}
    </>
  )
}

function Dismissed({ dismissed_by: by, note }: Regression) {
  return (
    <>
      {/* A share link hides the name. */}
      Dismissed
      {by !== null && (
        <>
          {' '}
          with the key “<UntrustedText text={by} />”
        </>
      )}
      {note !== null && (
        <blockquote>
          <UntrustedText text={note} />
        </blockquote>
      )}
    </>
  )
}
