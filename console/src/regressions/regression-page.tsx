import { NotFoundError, type Regression } from '@promptledger/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { ChangeDiff } from '../prompt/change-diff.tsx'
import { ChangeLift } from '../prompt/change-lift.tsx'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { promptPath } from '../prompt/prompt-path.ts'
import { useShowsSignals } from '../shared/shared-query.ts'
import { isShared } from '../shared/token.ts'
import { ChangeSegments } from '../signals/change-segments.tsx'
import { NegativeComments } from '../signals/negative-comments.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import { Action } from '../versions/prompt-actions.tsx'
import { DismissRegression } from './dismiss-regression.tsx'
import { ratesOf } from './open-regressions.tsx'
import { openTimeOf } from './open-time.ts'
import { RegressionChange } from './regression-change.tsx'
import { RegressionChart } from './regression-chart.tsx'
import { RegressionHistory } from './regression-history.tsx'
import { useRegression } from './regression-query.ts'
import { RegressionStateBadge } from './regression-state.tsx'
import { ToldTable } from './told-table.tsx'

interface Props {
  promptId: string
  id: number
  canDismiss: boolean
}

/** One change that made a prompt worse. The links in messages lead here. */
export function RegressionPage({ promptId, id, canDismiss }: Props) {
  const regression = useRegression(promptId, id)
  usePageTitle(regression.data === undefined ? 'Regression' : `Regression of ${regression.data.prompt.name}`)
  if (!Number.isInteger(id) || regression.error instanceof NotFoundError) return <NotFoundPage />
  if (regression.isLoadingError) return <LoadError error={regression.error} retry={regression.refetch} />
  if (regression.isPending) return <Loading what="the regression" />
  const { data } = regression
  return (
    <>
      <Head regression={data} canDismiss={canDismiss} />
      <ChangeAndHistory regression={data} />
      <section aria-labelledby="told" className="page-section">
        <h2 id="told">Who was told</h2>
        <ToldTable regression={data} />
      </section>
    </>
  )
}

function Head({ regression, canDismiss }: { regression: Regression; canDismiss: boolean }) {
  const [isDismissing, setIsDismissing] = useState(false)
  const { prompt, state, change } = regression
  return (
    <div className="page-head">
      <div>
        <nav className="breadcrumbs" aria-label="Breadcrumbs">
          <Link href="/regressions">Regressions</Link>
          <Link href={promptPath(prompt.id)}>
            <PromptName name={prompt.name} />
          </Link>
        </nav>
        <div className="title-with-badge">
          <h1>Regression: {ratesOf(regression)} positive</h1>
          <RegressionStateBadge state={state} />
        </div>
        <div className="prompt-head-ids muted">
          <span>
            {state === 'open' ? 'Open for' : 'Was open for'} {openTimeOf(regression)}
          </span>
          <CopyableId id={prompt.id} what="prompt ID" />
          <span className="copyable-id">
            Regression <CopyableId id={regression.id} what="regression ID" />
          </span>
        </div>
      </div>
      <div className="page-actions">
        {canDismiss && <Action opens="share">Share</Action>}
        {state === 'open' && change.pr_url !== null && (
          <ExternalLink className="button primary" to={change.pr_url}>
            Open pull request #{change.pr_number}
          </ExternalLink>
        )}
        {state === 'open' && canDismiss && (
          <button type="button" className="text-button" onClick={() => setIsDismissing(true)}>
            Dismiss
          </button>
        )}
      </div>
      {isDismissing && <DismissRegression regression={regression} onClose={() => setIsDismissing(false)} />}
    </div>
  )
}

/** The change, what it did to the feedback, and what it did to the text: everything that decides whether to revert it. */
export function ChangeAndHistory({ regression }: { regression: Regression }) {
  const { prompt, change } = regression
  const item = useTimelineEntry(prompt.id, change.id)
  const showsSignals = useShowsSignals()
  // The regression itself names a change that is no longer part of the history.
  const isGone = item.error instanceof NotFoundError
  return (
    <>
      <RegressionChange regression={regression} item={item.data ?? null} />
      {item.isError && !isGone && <LoadError error={item.error} retry={item.refetch} />}
      <RegressionChart regression={regression} />
      {!isGone && (
        <div className="regression-evidence">
          <section className="card change-diff" aria-labelledby="diff">
            <h2 id="diff">
              Change
              {!isShared && <Link href={`${promptPath(prompt.id)}/compare?b=${change.id}`}>Compare side by side</Link>}
            </h2>
            <ChangeDiff promptId={prompt.id} entryId={change.id} />
          </section>
          <div className="card">
            {item.data?.impact && <ChangeLift promptId={prompt.id} entryId={change.id} impact={item.data.impact} />}
            {showsSignals && <NegativeComments promptId={prompt.id} entryId={change.id} />}
            {!isShared && <ChangeSegments promptId={prompt.id} entryId={change.id} />}
          </div>
        </div>
      )}
      <section aria-labelledby="history" className="page-section">
        <h2 id="history">What happened</h2>
        <RegressionHistory regression={regression} />
      </section>
    </>
  )
}
