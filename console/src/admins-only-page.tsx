import type { SessionInfo } from '@promptledger/client'
import { Link } from 'wouter'
import { usePageTitle } from './page-head.tsx'
import { UntrustedText } from './ui/untrusted-text.tsx'

/** For pages that exist, but not for the role of the key. */
export function AdminsOnlyPage({ title, session }: { title: string; session: SessionInfo }) {
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
