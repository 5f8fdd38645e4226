import type { IssuedKey } from '@promptledger/client'
import type { ReactNode } from 'react'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Props {
  created: IssuedKey
  onClose: () => void
  children?: ReactNode
}

/** Shows a new key. The service stores only its hash, so this is the only time. */
export function CreatedKey({ created, onClose, children }: Props) {
  return (
    <SecretDialog
      title="Key created"
      noun="key"
      label={`Key “${created.name}”`}
      secret={created.key}
      recovery="revoke it and create another"
      onClose={onClose}
    >
      <p className="muted">
        Role {created.role},{' '}
        {created.prompts !== null && (
          <>
            limited to <UntrustedText text={created.prompts} />,{' '}
          </>
        )}
        {created.expires_at === null ? (
          'never expires'
        ) : (
          <>
            expires on <Time at={created.expires_at} />
          </>
        )}
        .
      </p>
      {children}
    </SecretDialog>
  )
}
