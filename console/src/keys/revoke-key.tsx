import type { Key } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  ofKey: Key
  /** Whether it is the one that the reader is signed in with. */
  isOwn: boolean
  onClose: () => void
}

export function RevokeKey({ ofKey, isOwn, onClose }: Props) {
  const queries = useQueryClient()
  const revocation = useMutation({
    mutationFn: () => ledger.keys.revoke(ofKey.id),
    // Where it was one's own, the service answers that nobody is signed in, and the page asks to do so again.
    onSuccess: () => queries.invalidateQueries({ queryKey: isOwn ? ['session'] : ['keys'] }),
  })
  return (
    <Confirm
      title={`Revoke “${ofKey.name}”?`}
      act={isOwn ? 'Revoke and sign out' : 'Revoke the key'}
      state={revocation}
      onConfirm={() => revocation.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        The key <strong>{ofKey.name}</strong> of the role {ofKey.role}, which ends with <code>{ofKey.hint}</code>, is
        refused from the next request on. Whatever uses it stops working, and who signed in with it is signed out. This
        cannot be undone.
      </p>
      {!isOwn && (
        <p className="quiet">
          {ofKey.last_used_at === null ? (
            'It was never used.'
          ) : (
            <>
              It was last used <Time at={ofKey.last_used_at} as="ago" />.
            </>
          )}
        </p>
      )}
      {isOwn && (
        <Notice tone="bad">
          This is the key you are signed in with: revoking it signs you out. Have another one of the role admin at hand.
        </Notice>
      )}
    </Confirm>
  )
}
