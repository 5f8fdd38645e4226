import { NotFoundError, type Regression } from '@promptledger/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { promptPath } from '../prompt/prompt-path.ts'
import { Button } from '../ui/button.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { DismissRegression } from './dismiss-regression.tsx'
import { ratesOf } from './open-regressions.tsx'
import { openTimeOf } from './open-time.ts'
import { RegressionChange } from './regression-change.tsx'
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
  const { prompt, state } = regression
  return (
    <div className="page-head">
      <div>
        <nav className="breadcrumbs" aria-label="Breadcrumbs">
          <Link href="/regressions">Regressions</Link>
          <Link href={promptPath(prompt.id)}>
            <UntrustedText text={prompt.name} />
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
      {canDismiss && state === 'open' && <Button onClick={() => setIsDismissing(true)}>Dismiss</Button>}
      {isDismissing && <DismissRegression regression={regression} onClose={() => setIsDismissing(false)} />}
    </div>
  )
}

function ChangeAndHistory({ regression }: { regression: Regression }) {
  const change = useTimelineEntry(regression.prompt.id, regression.change.id)
  // The regression itself names a change that is no longer part of the history.
  const isFailed = change.isError && !(change.error instanceof NotFoundError)
  return (
    <>
      <RegressionChange regression={regression} item={change.data ?? null} />
      {isFailed && <LoadError error={change.error} retry={change.refetch} />}
      <section aria-labelledby="history" className="page-section">
        <h2 id="history">What happened</h2>
        <RegressionHistory regression={regression} />
      </section>
    </>
  )
}
