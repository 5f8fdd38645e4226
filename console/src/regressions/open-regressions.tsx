import type { Regression } from '@promptledger/client'
import { Link } from 'wouter'
import { regressionPath } from '../prompt/prompt-path.ts'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useOpenRegressions } from './regression-query.ts'
import { liveSince, ratesOf } from './regression-words.tsx'

/** Names the changes that made a prompt worse and are not repaired. */
export function OpenRegressions({ promptId }: { promptId: string }) {
  const open = useOpenRegressions(promptId)
  const regressions = open.data?.data ?? []
  if (regressions.length === 0) return null
  return (
    <section className="open-regressions" aria-label="Open regressions">
      <Notice tone="bad">
        <ul>
          {regressions.map((regression) => (
            <li key={regression.id}>
              <OpenRegression regression={regression} />
            </li>
          ))}
        </ul>
      </Notice>
    </section>
  )
}

function OpenRegression({ regression }: { regression: Regression }) {
  const { change } = regression
  return (
    <>
      <Link href={regressionPath(regression)}>
        <strong>Open regression: {ratesOf(regression)}</strong>
      </Link>{' '}
      since the change by <UntrustedText text={change.user.name} />
      {change.pr_number !== null && `, #${change.pr_number}`}, <Time at={liveSince(regression)} as="date" />
    </>
  )
}
