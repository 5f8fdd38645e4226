import type { Key } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Props {
  apiKey: Key
  /** Whether it is the key of the current session. */
  isCurrent: boolean
  onClose: () => void
}

export function RevokeKey({ apiKey, isCurrent, onClose }: Props) {
  const queryClient = useQueryClient()
  const revocation = useMutation({
    mutationFn: () => ledger.keys.revoke(apiKey.id),
    // Revoking the current key ends the session: reloading it brings up the sign-in form.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: isCurrent ? ['session'] : ['keys'] }),
  })
  return (
    <ConfirmDialog
      title={`Revoke “${apiKey.name}”?`}
      confirmLabel={isCurrent ? 'Revoke and sign out' : 'Revoke key'}
      mutation={revocation}
      onConfirm={() => revocation.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Requests with the {apiKey.role} key{' '}
        <strong>
          <UntrustedText text={apiKey.name} />
        </strong>{' '}
        ending in <code>{apiKey.hint}</code> will be rejected immediately, and everyone signed in with it will be signed
        out. This cannot be undone.
      </p>
      {!isCurrent && (
        <p className="muted">
          {apiKey.last_used_at === null ? (
            'It has never been used.'
          ) : (
            <>
              It was last used <Time at={apiKey.last_used_at} as="relative" />.
            </>
          )}
        </p>
      )}
      {isCurrent && (
        <Notice tone="bad">
          You are signed in with this key: revoking it signs you out. Make sure you have another admin key.
        </Notice>
      )}
    </ConfirmDialog>
  )
}
