import { ForbiddenError, UnauthorizedError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import logo from '../logo.svg'
import { useMutation } from '../mutation.ts'
import { usePageTitle } from '../page-head.tsx'
import { errorMessage } from '../query-client.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { RequestId } from '../ui/request-id.tsx'
import { arrival } from './arrival.ts'
import { signIn, signInByLink } from './session.ts'
import { failures, goToProvider, type SignInOffer, sendLink, sendSignIn } from './sign-in-requests.ts'

export function SignInPage({ reason }: { reason: string | null }) {
  usePageTitle('Sign in')
  const { failure, invitation, link } = arrival
  const offer = useQuery({
    queryKey: ['sign-in'],
    queryFn: () => sendSignIn<SignInOffer>('GET', '/sign-in'),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const why = failure === null ? reason : (failures[failure] ?? 'Signing in failed. Try again.')
  const { provider = null, email = false } = offer.data ?? {}
  return (
    <main className="sign-in">
      <div className="card">
        <img src={logo} alt="" width="44" height="44" />
        <h1>Promptledger</h1>
        <p className="muted">See which prompt changes helped or hurt your users.</p>
        {why !== null && (
          <div role="status">
            <Notice tone="caution">{why}</Notice>
          </div>
        )}
        {invitation !== null && (
          <Notice>
            {provider !== null || email
              ? 'You are invited to join. Sign in to accept.'
              : 'You are invited to join, but this service is not set up for people to sign in. Ask its operator.'}
          </Notice>
        )}
        {link !== null && <LinkForm token={link} />}
        {provider !== null && <ProviderButton name={provider.name} invitation={invitation} />}
        {email && link === null && <EmailForm invitation={invitation} />}
        {(provider !== null || email) && <p className="sign-in-or">or with a key</p>}
        <KeyForm isAlone={provider === null && !email && link === null} />
      </div>
    </main>
  )
}

function ProviderButton({ name, invitation }: { name: string; invitation: string | null }) {
  const leaving = useMutation({ mutationFn: () => goToProvider(invitation) })
  return (
    <>
      <Button kind="primary" busy={leaving.isPending} onClick={() => leaving.mutate()}>
        Continue with {name}
      </Button>
      <Failure error={leaving.error} />
    </>
  )
}

/** A button, not a link: programs that open the links of emails to check them would use it up. */
function LinkForm({ token }: { token: string }) {
  const attempt = useSignIn(() => signInByLink(token))
  return (
    <>
      <Button kind="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
        Sign in with this link
      </Button>
      <Failure error={attempt.error} />
    </>
  )
}

function EmailForm({ invitation }: { invitation: string | null }) {
  const sending = useMutation({ mutationFn: (email: string) => sendLink(email, invitation) })
  if (sending.isSuccess) {
    return (
      <div role="status">
        <Notice tone="good">
          If {sending.variables} may sign in here, a link is on its way. It works for 15 minutes.
        </Notice>
      </div>
    )
  }
  return (
    <form onSubmit={(event) => submitOnly(event, sending.mutate)}>
      <Field label="Email">{(control) => <input {...control} type="email" autoComplete="email" required />}</Field>
      <Failure error={sending.error} />
      <Button type="submit" kind="primary" busy={sending.isPending}>
        Email me a link
      </Button>
    </form>
  )
}

function KeyForm({ isAlone }: { isAlone: boolean }) {
  const attempt = useSignIn(signIn)
  return (
    <form onSubmit={(event) => submitOnly(event, attempt.mutate)}>
      <Field
        label="API key"
        hint={
          <>
            Use a reader, standard, deploy or admin key. Ask your administrator, or run{' '}
            <code className="nowrap">promptledger key create --org 1</code> on the server.
          </>
        }
      >
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: without another way to sign in, the key is the only thing to enter.
            autoFocus={isAlone}
            required
            placeholder="plk_…"
          />
        )}
      </Field>
      <Failure error={attempt.error} />
      <Button type="submit" kind={isAlone ? 'primary' : 'plain'} busy={attempt.isPending}>
        Sign in
      </Button>
      <p className="muted small">
        Your key is exchanged for a session cookie and is not stored in the browser. <a href="/docs">API reference</a>
      </p>
    </form>
  )
}

/**
 * Passes on what the only field of the form holds. Not from React's state, because some password managers fill the field without
 * an event. The field has no name, so that no browser ever puts the key into a URL.
 */
function submitOnly(event: FormEvent<HTMLFormElement>, send: (text: string) => void): void {
  event.preventDefault()
  const field = event.currentTarget.querySelector('input')
  if (field !== null) send(field.value.trim())
}

/** Signs in, and leaves the sign-in page if it has the URL of its own. */
function useSignIn<Secret = void>(start: (secret: Secret) => Promise<void>) {
  const [location, navigate] = useLocation()
  return useMutation({
    mutationFn: start,
    onSuccess: () => {
      if (location === '/sign-in') navigate('/prompts', { replace: true })
    },
  })
}

function Failure({ error }: { error: unknown }) {
  if (error === null) return null
  return (
    <p className="form-error" role="alert">
      {rejectionReason(error)}
      <RequestId error={error} onlyFailures />
    </p>
  )
}

function rejectionReason(error: unknown): string {
  if (error instanceof UnauthorizedError) return 'This key is unknown, revoked or expired.'
  if (error instanceof ForbiddenError)
    return 'Ingest and recorder keys can only record. Sign in with a reader, standard, deploy or admin key.'
  return errorMessage(error)
}
