import type { SessionInfo } from '@promptledger/client'
import { CloudOff, Hourglass } from 'lucide-react'
import { Suspense } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { probe, useConnection } from './connection.ts'
import { Layout } from './layout.tsx'
import { lazyPage } from './lazy-page.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { usePageTitle } from './page-head.tsx'
import { PromptPage } from './prompt/prompt-page.tsx'
import { PromptsPage } from './prompts/prompts-page.tsx'
import { arrival } from './sessions/arrival.ts'
import { isSignedOut } from './sessions/ended-session.ts'
import { canEdit, canManageKeys } from './sessions/rights.ts'
import { useSession } from './sessions/session.ts'
import { SignInPage } from './sessions/sign-in-page.tsx'
import { isShared } from './shared/token.ts'
import { SignalsPage } from './signals/signals-page.tsx'
import { Button } from './ui/button.tsx'
import { Loading, LoadState } from './ui/load-state.tsx'
import { UntrustedText } from './ui/untrusted-text.tsx'
import { UsagePage } from './usage/usage-page.tsx'

/** Says that the page may be out of date, while the requests in the background are retried. */
function ConnectionBanner() {
  const connection = useConnection()
  if (connection === 'online') return null
  const isAway = connection === 'away'
  const Icon = isAway ? CloudOff : Hourglass
  return (
    <div role="alert" className="connection-banner">
      <Icon aria-hidden="true" />
      <p>
        <strong>{isAway ? 'Cannot reach the server.' : 'The service is overloaded.'}</strong> This page may be out of
        date. Retrying…
      </p>
      {isAway && <Button onClick={() => probe()}>Retry now</Button>}
    </div>
  )
}

// Their code is loaded when someone first opens one of them.
const onDemand = () => import('./on-demand.ts')
const AlertPage = lazyPage(async () => (await onDemand()).AlertPage)
const AlertsPage = lazyPage(async () => (await onDemand()).AlertsPage)
const PeoplePage = lazyPage(async () => (await onDemand()).PeoplePage)
const KeysPage = lazyPage(async () => (await onDemand()).KeysPage)
const RepositoriesPage = lazyPage(async () => (await onDemand()).RepositoriesPage)
const RepositoryPage = lazyPage(async () => (await onDemand()).RepositoryPage)
const AuditPage = lazyPage(async () => (await onDemand()).AuditPage)
const SettingsPage = lazyPage(async () => (await onDemand()).SettingsPage)
const ComparePage = lazyPage(async () => (await onDemand()).ComparePage)
const TextPage = lazyPage(async () => (await onDemand()).TextPage)
const TextSearchPage = lazyPage(async () => (await onDemand()).TextSearchPage)
const SharedPage = lazyPage(async () => (await onDemand()).SharedPage)
const RegressionPage = lazyPage(async () => (await onDemand()).RegressionPage)
const ShiftPage = lazyPage(async () => (await onDemand()).ShiftPage)
const RegressionsPage = lazyPage(async () => (await onDemand()).RegressionsPage)
const SourcePage = lazyPage(async () => (await onDemand()).SourcePage)
const SourcesPage = lazyPage(async () => (await onDemand()).SourcesPage)
const TrialPage = lazyPage(async () => (await onDemand()).TrialPage)
const TrialsPage = lazyPage(async () => (await onDemand()).TrialsPage)

export function App() {
  return (
    <>
      {isShared ? (
        <Suspense fallback={<Loading what="the prompt" />}>
          <SharedPage />
        </Suspense>
      ) : (
        <Gate />
      )}
      <ConnectionBanner />
    </>
  )
}

function Gate() {
  const session = useSession()
  const [location] = useLocation()
  if (session.data === undefined) return <LoadState query={session} what="the console" />
  // A link of an email or an invitation, or a sign-in that failed, also concerns someone who is signed in.
  if (location === '/sign-in' && arrival.concernsAnyone) return <SignInPage reason={null} />
  // The form has no URL of its own, so the requested page appears as soon as the user signs in.
  if (isSignedOut(session.data)) return <SignInPage reason={session.data.reason} />
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
          <PromptsPage session={session} />
        </Route>
        <Route path="/prompts/:id">{({ id }) => <PromptPage key={id} id={id} />}</Route>
        <Route path="/prompts/:id/text">{({ id }) => <TextPage key={id} id={id} />}</Route>
        <Route path="/prompts/:id/compare">{({ id }) => <ComparePage key={id} id={id} />}</Route>
        <Route path="/prompts/:id/signals">
          {({ id }) => <SignalsPage key={id} promptId={id} canDelete={canEdit(session.key)} />}
        </Route>
        <Route path="/prompts/:id/regressions/:regression">
          {({ id, regression }) => (
            <RegressionPage key={regression} promptId={id} id={Number(regression)} canDismiss={canEdit(session.key)} />
          )}
        </Route>
        <Route path="/prompts/:id/shifts/:shift">
          {({ id, shift }) => <ShiftPage key={shift} promptId={id} id={shift} canEdit={canEdit(session.key)} />}
        </Route>
        <Route path="/regressions" component={RegressionsPage} />
        <Route path="/trials">
          <TrialsPage session={session} />
        </Route>
        <Route path="/trials/:id">{({ id }) => <TrialPage key={id} id={id} session={session} />}</Route>
        <Route path="/texts" component={TextSearchPage} />
        <Route path="/usage">
          <UsagePage session={session} />
        </Route>
        <Route path="/people">
          <PeoplePage session={session} />
        </Route>
        {canManageKeys(session) && (
          <Route path="/keys">
            <KeysPage session={session} />
          </Route>
        )}
        {isAdmin && <Route path="/repositories" component={RepositoriesPage} />}
        {isAdmin && <Route path="/repositories/:id">{({ id }) => <RepositoryPage key={id} id={Number(id)} />}</Route>}
        {isAdmin && <Route path="/alerts" component={AlertsPage} />}
        {isAdmin && <Route path="/alerts/:id">{({ id }) => <AlertPage key={id} id={id} />}</Route>}
        {isAdmin && <Route path="/sources" component={SourcesPage} />}
        {isAdmin && <Route path="/sources/:id">{({ id }) => <SourcePage key={id} id={id} />}</Route>}
        <Route path="/audit">
          {isAdmin ? (
            <AuditPage organisationId={session.organisation.id} />
          ) : (
            <AdminsOnlyPage title="Audit log" session={session} />
          )}
        </Route>
        <Route path="/settings">
          {isAdmin ? <SettingsPage session={session} /> : <AdminsOnlyPage title="Settings" session={session} />}
        </Route>
        <Route component={NotFoundPage} />
      </Switch>
    </Layout>
  )
}

/** For pages that exist, but not for the role of the key. */
function AdminsOnlyPage({ title, session }: { title: string; session: SessionInfo }) {
  usePageTitle(title)
  const { person } = session
  const { role, name, hint } = session.key
  return (
    <div className="empty-state">
      <h1>{title}</h1>
      <p>
        {person === null ? (
          <>
            Only keys with the role admin can see this page. You are signed in with the {role} key “
            <UntrustedText text={name} />” (…{hint}). Sign in with an admin key, or ask an administrator of{' '}
          </>
        ) : (
          <>
            Only admins can see this page. You are signed in as <UntrustedText text={person.email} /> ({person.role}).
            Ask an admin of{' '}
          </>
        )}
        <UntrustedText text={session.organisation.name} />.
      </p>
      <Link className="button plain" href="/prompts">
        All prompts
      </Link>
    </div>
  )
}
