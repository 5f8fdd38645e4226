import type { SessionInfo, Trial } from '@promptledger/client'
import { Pause, Play, SlidersHorizontal, Square } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { SubjectHead, usePageTitle } from '../page-head.tsx'
import { promptPath } from '../prompt/prompt-path.ts'
import { canRunTrials } from '../sessions/rights.ts'
import { Button } from '../ui/button.tsx'
import { CopyableId, CopyButton } from '../ui/copy-button.tsx'
import { Detail } from '../ui/detail.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { existing, PageState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { ChangeShare, ChangeState, type StateChange } from './change-trial.tsx'
import { TrialFigures } from './trial-figures.tsx'
import { TrialOutcome } from './trial-outcome.tsx'
import { useTrial } from './trial-query.ts'
import { TrialSegments } from './trial-segments.tsx'
import { endings, formatShare, servedShare, TrialStateBadge } from './trial-words.tsx'

/** One pull request or commit that some users get before it is merged. */
export function TrialPage({ id, session }: { id: string; session: SessionInfo }) {
  const trial = useTrial(id)
  const title = trial.data === undefined ? 'Trial' : titleOf(trial.data)
  usePageTitle(title)
  const data = existing(trial)
  if (data === undefined) return <PageState query={trial} what="the trial" />
  return (
    <>
      <SubjectHead
        breadcrumbs={<Link href="/trials">Trials</Link>}
        title={title}
        badge={<TrialStateBadge state={data.state} />}
        ids={<CopyableId id={data.id} what="trial ID" />}
      >
        {canRunTrials(session.key) && data.state !== 'ended' && <Actions trial={data} />}
      </SubjectHead>
      <div role="status">
        <TrialOutcome trial={data} />
      </div>
      <TrialFigures trial={data} />
      <TrialSegments trial={data} />
      <section aria-labelledby="details" className="page-section">
        <h2 id="details">Details</h2>
        <Details trial={data} />
      </section>
    </>
  )
}

function titleOf({ pr_number: pull, commit_sha: commit }: Trial): string {
  return pull === null ? `Trial of commit ${commit.slice(0, 7)}` : `Trial of pull request #${pull}`
}

function Actions({ trial }: { trial: Trial }) {
  const [dialog, setDialog] = useState<'share' | StateChange | null>(null)
  const isPaused = trial.state === 'paused'
  const close = () => setDialog(null)
  return (
    <div className="page-actions">
      <Button onClick={() => setDialog('share')}>
        <SlidersHorizontal aria-hidden="true" />
        Change share
      </Button>
      <Button onClick={() => setDialog(isPaused ? 'resume' : 'pause')}>
        {isPaused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button kind="danger" onClick={() => setDialog('end')}>
        <Square aria-hidden="true" />
        End
      </Button>
      {dialog === 'share' && <ChangeShare trial={trial} onClose={close} />}
      {dialog !== null && dialog !== 'share' && <ChangeState trial={trial} to={dialog} onClose={close} />}
    </div>
  )
}

function Details({ trial }: { trial: Trial }) {
  const { prompts, pr_number: pull, pr_url: url, commit_sha: commit, ramp, started_by: by, ended_at: endedAt } = trial
  return (
    <dl className="card details-list even">
      <Detail name={prompts.length === 1 ? 'Prompt' : 'Prompts'}>
        {prompts.map(({ id, name }) => (
          <div key={id}>
            <Link href={promptPath(id)}>
              <PromptName name={name} />
            </Link>
          </div>
        ))}
      </Detail>
      {pull !== null && (
        <Detail name="Pull request">{url === null ? `#${pull}` : <ExternalLink to={url}>#{pull}</ExternalLink>}</Detail>
      )}
      <Detail name="Commit">
        <code>{commit.slice(0, 7)}</code>
        <CopyButton value={commit} label="Copy the commit" />
      </Detail>
      <Detail name="Share">
        {formatShare(servedShare(trial))}
        {trial.state !== 'running' && <span className="muted"> (was {formatShare(trial.share)})</span>}
      </Detail>
      {ramp !== null && (
        <Detail name="Ramp">
          <Ramp shares={ramp.shares} current={trial.share} />{' '}
          <span className="muted">after {formatNumber(ramp.votes)} votes each</span>
        </Detail>
      )}
      <Detail name="Started">
        <Time at={trial.started_at} /> by <UntrustedText text={by} />
      </Detail>
      {endedAt !== null && (
        <Detail name="Ended">
          <Time at={endedAt} />
          {trial.ended_by !== null && `: ${endings[trial.ended_by]}`}
        </Detail>
      )}
      {trial.judged_at !== null && (
        <Detail name="Last judged">
          <Time at={trial.judged_at} />
        </Detail>
      )}
    </dl>
  )
}

/** The shares in turn, the current one emphasised. */
function Ramp({ shares, current }: { shares: number[]; current: number }) {
  return shares.map(
    (share, i): ReactNode => (
      <span key={share}>
        {i > 0 && ' → '}
        {share === current ? <strong>{formatShare(share)}</strong> : formatShare(share)}
      </span>
    ),
  )
}
