import { NotFoundError, type Regression } from '@promptledger/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { Button } from '../ui/button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { formatPercent } from '../ui/percent.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { DismissRegression } from './dismiss-regression.tsx'
import { RegressionChange } from './regression-change.tsx'
import { RegressionHistory } from './regression-history.tsx'
import { useChange, useRegression } from './regression-query.ts'
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
  if (regression.isError) return <LoadError error={regression.error} retry={regression.refetch} />
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
  const { prompt, state, rate_before: before, rate_after: after } = regression
  return (
    <div className="page-head">
      <div>
        <nav className="breadcrumbs" aria-label="Breadcrumbs">
          <Link href="/prompts">Prompts</Link>
          <Link href={`/prompts/${prompt.id}`}>
            <UntrustedText text={prompt.name} />
          </Link>
        </nav>
        <div className="title-with-badge">
          <h1>
            Regression: {formatPercent(before)} → {formatPercent(after)} positive
          </h1>
          <RegressionStateBadge state={state} />
        </div>
      </div>
      {canDismiss && state === 'open' && <Button onClick={() => setIsDismissing(true)}>Dismiss</Button>}
      {isDismissing && <DismissRegression regression={regression} onClose={() => setIsDismissing(false)} />}
    </div>
  )
}

function ChangeAndHistory({ regression }: { regression: Regression }) {
  const change = useChange(regression.prompt.id, regression.change)
  return (
    <>
      <RegressionChange regression={regression} item={change.data ?? null} />
      {change.isError && <LoadError error={change.error} retry={change.refetch} />}
      <section aria-labelledby="history" className="page-section">
        <h2 id="history">What happened</h2>
        <RegressionHistory regression={regression} />
      </section>
    </>
  )
}
