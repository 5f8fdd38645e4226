import logo from '../logo.svg'
import { usePageTitle } from '../page-head.tsx'
import { Feedback } from '../prompt/feedback.tsx'
import { ChangeAndHistory } from '../regressions/regression-page.tsx'
import { useRegression } from '../regressions/regression-query.ts'
import { RegressionStateBadge, ratesOf } from '../regressions/regression-words.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import { Time } from '../ui/time.tsx'
import { useShared } from './shared-query.ts'

/** What a share link shows: one prompt, or one regression of it. */
export function SharedPage() {
  const shared = useShared()
  usePageTitle(shared.data !== undefined && 'prompt' in shared.data ? shared.data.prompt.name : 'Shared prompt')
  if (shared.data === undefined) return <LoadState query={shared} what="the prompt" />
  if ('ended' in shared.data) {
    return (
      <main id="main">
        <EmptyState title={shared.data.ended}>
          <p>Ask the person who sent it for a new one.</p>
        </EmptyState>
      </main>
    )
  }
  const { prompt, regression_id: regression, expires_at: expiresAt } = shared.data
  return (
    <>
      <header className="top-bar">
        <span className="top-bar-logo">
          <img src={logo} alt="" width="26" height="26" />
          <span>Promptledger</span>
        </span>
        <span className="top-bar-account muted small">
          <span>
            Read-only link, expires <Time at={expiresAt} />
          </span>
        </span>
      </header>
      <main id="main">
        {regression === null ? (
          <>
            <div className="page-head">
              <h1>
                <PromptName name={prompt.name} />
              </h1>
            </div>
            <Feedback id={prompt.id} name={prompt.name} />
          </>
        ) : (
          <SharedRegression promptId={prompt.id} id={regression} />
        )}
      </main>
    </>
  )
}

function SharedRegression({ promptId, id }: { promptId: string; id: number }) {
  const regression = useRegression(promptId, id)
  if (regression.data === undefined) return <LoadState query={regression} what="the regression" />
  const { data } = regression
  return (
    <>
      <div className="page-head">
        <div className="title-with-badge">
          <h1>
            <PromptName name={data.prompt.name} />: {ratesOf(data)} positive
          </h1>
          <RegressionStateBadge state={data.state} />
        </div>
      </div>
      <ChangeAndHistory regression={data} />
    </>
  )
}
