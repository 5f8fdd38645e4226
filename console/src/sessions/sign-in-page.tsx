import { ForbiddenError, UnauthorizedError } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import logo from '../logo.svg'
import { usePageTitle } from '../page-title.ts'
import { errorMessage } from '../query-client.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { RequestId } from '../ui/request-id.tsx'
import { signIn } from './session.ts'

export function SignInPage({ reason }: { reason: string | null }) {
  usePageTitle('Sign in')
  const [key, setKey] = useState('')
  const attempt = useMutation({ mutationFn: signIn })
  function submit(event: FormEvent) {
    event.preventDefault()
    attempt.mutate(key.trim())
  }
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <img src={logo} alt="" width="44" height="44" />
        <h1>Promptledger</h1>
        <p className="muted">See which prompt changes helped or hurt your users.</p>
        {reason !== null && (
          <div role="status">
            <Notice tone="caution">{reason}</Notice>
          </div>
        )}
        <Field
          label="API key"
          hint={
            <>
              Use a reader, standard or admin key. Ask your administrator, or run{' '}
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
              // biome-ignore lint/a11y/noAutofocus: the key is the only thing to enter on this page.
              autoFocus
              required
              placeholder="plk_…"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        {attempt.isError && (
          <p className="form-error" role="alert">
            {rejectionReason(attempt.error)}
            <RequestId error={attempt.error} onlyFailures />
          </p>
        )}
        <Button type="submit" kind="primary" busy={attempt.isPending}>
          Sign in
        </Button>
        <p className="muted small">
          Your key is exchanged for a session cookie and is not stored in the browser. <a href="/docs">API reference</a>
        </p>
      </form>
    </main>
  )
}

function rejectionReason(error: unknown): string {
  if (error instanceof UnauthorizedError) return 'This key is unknown, revoked or expired.'
  if (error instanceof ForbiddenError)
    return 'Ingest and recorder keys can only record. Sign in with a reader, standard or admin key.'
  return errorMessage(error)
}
