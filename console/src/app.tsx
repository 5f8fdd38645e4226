import type { SessionInfo } from '@promptledger/client'
import { Redirect, Route, Switch } from 'wouter'
import { AlertPage } from './alerts/alert-page.tsx'
import { AlertsPage } from './alerts/alerts-page.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { Layout } from './layout.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { PromptPage } from './prompt/prompt-page.tsx'
import { PromptsPage } from './prompts/prompts-page.tsx'
import { RegressionPage } from './regressions/regression-page.tsx'
import { RepositoriesPage } from './repositories/repositories-page.tsx'
import { RepositoryPage } from './repositories/repository-page.tsx'
import { useSession } from './sessions/session.ts'
import { SignInPage } from './sessions/sign-in-page.tsx'
import { SignalsPage } from './signals/signals-page.tsx'
import { LoadError } from './ui/load-error.tsx'
import { Loading } from './ui/loading.tsx'
import { UsagePage } from './usage/usage-page.tsx'

export function App() {
  const session = useSession()
  if (session.isPending) return <Loading what="the console" />
  if (session.isError) return <LoadError error={session.error} retry={session.refetch} />
  // The form has no URL of its own, so the requested page appears as soon as the user signs in.
  if (session.data === null) return <SignInPage />
  return <SignedIn session={session.data} />
}

function SignedIn({ session }: { session: SessionInfo }) {
  const isAdmin = session.key.role === 'admin'
  return (
    <Layout session={session}>
      <Switch>
        <Route path="/">
          <Redirect to="/prompts" replace />
        </Route>
        <Route path="/sign-in">
          <Redirect to="/prompts" replace />
        </Route>
        <Route path="/prompts">
          <PromptsPage isAdmin={isAdmin} />
        </Route>
        <Route path="/prompts/:id">{({ id }) => <PromptPage key={id} id={id} />}</Route>
        <Route path="/prompts/:id/signals">
          {({ id }) => <SignalsPage key={id} promptId={id} canDelete={session.key.role !== 'reader'} />}
        </Route>
        <Route path="/prompts/:id/regressions/:regression">
          {({ id, regression }) => (
            <RegressionPage
              key={regression}
              promptId={id}
              id={Number(regression)}
              canDismiss={session.key.role !== 'reader'}
            />
          )}
        </Route>
        <Route path="/usage">
          <UsagePage />
        </Route>
        {isAdmin && (
          <Route path="/keys">
            <KeysPage session={session} />
          </Route>
        )}
        {isAdmin && (
          <Route path="/repositories">
            <RepositoriesPage />
          </Route>
        )}
        {isAdmin && <Route path="/repositories/:id">{({ id }) => <RepositoryPage key={id} id={Number(id)} />}</Route>}
        {isAdmin && (
          <Route path="/alerts">
            <AlertsPage />
          </Route>
        )}
        {isAdmin && <Route path="/alerts/:id">{({ id }) => <AlertPage key={id} id={id} />}</Route>}
        <Route>
          <NotFoundPage />
        </Route>
      </Switch>
    </Layout>
  )
}
