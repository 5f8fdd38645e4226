import type { Regression, TimelineEntry } from '@promptledger/client'
import { Link } from 'wouter'
import { titleOf } from '../prompt/entry-title.ts'
import { changePath } from '../prompt/prompt-path.ts'
import { isShared } from '../shared/token.ts'
import { type ChangeSide, signalsPath } from '../signals/signal-filter.ts'
import { ActionIcon } from '../ui/action-icon.tsx'
import { Detail } from '../ui/detail.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { formatNumber } from '../ui/number.ts'
import { PageLink } from '../ui/page-link.tsx'
import { formatPercent, formatPoints } from '../ui/percent.ts'
import { Term } from '../ui/term.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'

interface Props {
  regression: Regression
  /** The change as the timeline has it, once it is loaded. */
  item: TimelineEntry | null
}

/** The change that made the prompt worse, and what the votes say. */
export function RegressionChange({ regression, item }: Props) {
  const { change, prompt, interval } = regression
  const signals = (side: ChangeSide) => signalsPath(prompt.id, { change: change.id, side })
  const [low, high] = interval.map(formatPoints) as [string, string]
  return (
    <section className="card regression-change" aria-labelledby="change">
      <h2 id="change">
        <ActionIcon action={change.action} />
        <PageLink href={changePath(prompt.id, change.id)}>
          <UntrustedText text={titleOf(change, item?.message ?? null)} />
        </PageLink>
      </h2>
      <dl className="details-list even">
        <Detail name="Before">
          <Rate rate={regression.rate_before} signals={regression.signals_before} to={signals('before')} />
        </Detail>
        <Detail name="After">
          <Rate rate={regression.rate_after} signals={regression.signals_after} to={signals('after')} />
        </Detail>
        <Detail name="Difference">
          {formatPoints(regression.difference)} percentage points{' '}
          <span className="muted">
            <span className="nowrap">
              (<Term name="confidence_range">95% confidence range</Term>:
            </span>{' '}
            {low} to {high})
          </span>
        </Detail>
        <Detail name="Author">
          <span title={visibleText(change.user.email)}>
            <UntrustedText text={change.user.name} />
          </span>
        </Detail>
        {change.pr_url !== null && (
          <Detail name="Pull request">
            <ExternalLink to={change.pr_url}>#{change.pr_number}</ExternalLink>
          </Detail>
        )}
        <Detail name="Commit">
          <Commit sha={change.commit_sha} url={item?.commit_url ?? null} />
        </Detail>
        <Detail name="Live since">
          <Time at={regression.live_from ?? change.created_at} />
        </Detail>
      </dl>
      <p>
        <UntrustedText text={regression.explanation} />
      </p>
      {!isShared && (
        <p>
          <Link href={changePath(prompt.id, change.id)}>See the change in the history of the prompt</Link>
        </p>
      )}
    </section>
  )
}

function Commit({ sha, url }: { sha: string; url: string | null }) {
  const code = <code>{sha.slice(0, 7)}</code>
  return url === null ? code : <ExternalLink to={url}>{code}</ExternalLink>
}

/** The votes as of the last time that the verdict was `worse`. The link leads to those that count now. */
function Rate({ rate, signals, to }: { rate: number; signals: number | null; to: string }) {
  return (
    <>
      <strong>{formatPercent(rate)}</strong> positive
      {signals !== null && (
        <span className="muted">
          {' '}
          of <PageLink href={to}>{formatNumber(signals)} signals</PageLink>
        </span>
      )}
    </>
  )
}
