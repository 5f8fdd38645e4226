import type { SessionInfo } from '@promptledger/client'
import { Redirect, Route, Switch } from 'wouter'
import { KeysPage } from './pages/keys.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { PromptPage } from './pages/prompt.tsx'
import { PromptsPage } from './pages/prompts.tsx'
import { RepositoriesPage } from './pages/repositories.tsx'
import { RepositoryPage } from './pages/repository.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SignalsPage } from './pages/signals.tsx'
import { UsagePage } from './pages/usage.tsx'
import { useSession } from './session.ts'
import { Shell } from './shell.tsx'
import { Failure } from './ui/failure.tsx'
import { Loading } from './ui/loading.tsx'

export function App() {
  const session = useSession()
  if (session.isPending) return <Loading what="the console" />
  if (session.isError) return <Failure error={session.error} retry={session.refetch} />
  // At whatever address: it is still there once somebody has signed in.
  if (session.data === null) return <SignInPage />
  return <SignedIn session={session.data} />
}

function SignedIn({ session }: { session: SessionInfo }) {
  const admin = session.key.role === 'admin'
  return (
    <Shell session={session}>
      <Switch>
        <Route path="/">
          <Redirect to="/prompts" replace />
        </Route>
        <Route path="/sign-in">
          <Redirect to="/prompts" replace />
        </Route>
        <Route path="/prompts">
          <PromptsPage admin={admin} />
        </Route>
        <Route path="/prompts/:id">{({ id }) => <PromptPage key={id} id={id} />}</Route>
        <Route path="/prompts/:id/signals">{({ id }) => <SignalsPage key={id} id={id} />}</Route>
        <Route path="/usage">
          <UsagePage />
        </Route>
        {admin && (
          <Route path="/keys">
            <KeysPage session={session} />
          </Route>
        )}
        {admin && (
          <Route path="/repositories">
            <RepositoriesPage />
          </Route>
        )}
        {admin && <Route path="/repositories/:id">{({ id }) => <RepositoryPage key={id} id={Number(id)} />}</Route>}
        <Route>
          <NotFoundPage />
        </Route>
      </Switch>
    </Shell>
  )
}
