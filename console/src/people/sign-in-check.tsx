import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

/** How people sign in, and which setting keeps them from it. */
export function SignInCheck() {
  const check = useQuery({
    queryKey: ['sign-in-check'],
    queryFn: ({ signal }) => ledger.people.checkSignIn({ signal }),
    staleTime: 60_000,
  })
  if (check.isError) return <LoadError error={check.error} retry={check.refetch} />
  if (check.data === undefined) return null
  const { provider, email, redirect_url: redirectUrl, problems } = check.data
  const way = provider === null ? (email ? 'links by email' : null) : provider
  return (
    <section className="people-check" aria-label="How people sign in">
      {problems.length === 0 && (
        <p className="muted">
          {way === null ? (
            <>
              People cannot sign in yet, only keys. The operator sets <code>SIGN_IN_ISSUER</code> or{' '}
              <code>SMTP_URL</code>.
            </>
          ) : (
            `People sign in with ${way}.`
          )}
        </p>
      )}
      {problems.length > 0 && (
        <div role="alert">
          <Notice tone="bad">
            <p>
              <strong>A setting of sign-in is wrong.</strong> Keys still sign in.
            </p>
            <ul>
              {problems.map(({ setting, message }) => (
                <li key={setting + message}>
                  <code>{setting}</code>: <UntrustedText text={message} />
                </li>
              ))}
            </ul>
            <Button busy={check.isFetching} onClick={() => check.refetch()}>
              Check again
            </Button>
          </Notice>
          {provider !== null && <CopyField label="Redirect URL that the provider must know" value={redirectUrl} />}
        </div>
      )}
    </section>
  )
}
