import { ForbiddenError, UnauthorizedError } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import mark from '../mark.svg'
import { reasonOf } from '../queries.ts'
import { signIn } from '../session.ts'
import { useTitle } from '../title.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'

export function SignInPage() {
  useTitle('Sign in')
  const [key, setKey] = useState('')
  const attempt = useMutation({ mutationFn: signIn })
  function submit(event: FormEvent) {
    event.preventDefault()
    attempt.mutate(key.trim())
  }
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <img src={mark} alt="" width="44" height="44" />
        <h1>Promptledger</h1>
        <p className="quiet">What happened to your prompts, and what users thought of it.</p>
        <Field
          label="API key"
          hint={
            <>
              Of the role standard or admin. Whoever runs the service makes one with{' '}
              <code>promptledger key create --org 1</code>.
            </>
          }
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="current-password"
              spellCheck={false}
              // biome-ignore lint/a11y/noAutofocus: it is what the page is for.
              autoFocus
              required
              placeholder="plk_…"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        {attempt.isError && (
          <p className="field-error" role="alert">
            {refusalOf(attempt.error)}
          </p>
        )}
        <Button type="submit" kind="primary" busy={attempt.isPending}>
          Sign in
        </Button>
        <p className="quiet small">
          The key is exchanged for a cookie and not kept in this page. <a href="/docs">Interface reference</a>
        </p>
      </form>
    </main>
  )
}

function refusalOf(error: unknown): string {
  if (error instanceof UnauthorizedError) return 'This key is unknown, revoked or expired.'
  if (error instanceof ForbiddenError)
    return 'This key may only record signals: take one of the role standard or admin.'
  return reasonOf(error)
}
