import type { Key, SessionInfo } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Checkbox } from '../ui/field.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { CreateKey } from './create-key.tsx'
import { isActive, statusOf } from './key-status.tsx'
import { type KeyRow, KeyTable } from './key-table.tsx'
import { RotateKey } from './rotate-key.tsx'

type OpenDialog = { action: 'create' } | { action: 'rotate' | 'revoke'; key: Key }

export function KeysPage({ session }: { session: SessionInfo }) {
  const [params, setParams] = useUrlParams()
  const showAll = params.has('all')
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.keys.list({}, { signal })),
  })
  const close = () => setDialog(null)
  const isCurrent = ({ id }: Key) => id === session.key.id
  const { active, inactive } = splitByStatus(keys.data ?? [])
  return (
    <>
      <PageHead title="Keys">
        <Button kind="primary" onClick={() => setDialog({ action: 'create' })}>
          <Plus aria-hidden="true" />
          New key
        </Button>
      </PageHead>
      <LoadState query={keys} what="keys" />
      {keys.data && (
        <>
          <KeyTable
            keys={showAll ? [...active, ...inactive] : active}
            currentKeyId={session.key.id}
            onRotate={(key) => setDialog({ action: 'rotate', key })}
            onRevoke={(key) => setDialog({ action: 'revoke', key })}
          />
          {inactive.length > 0 && (
            <Checkbox
              className="show-inactive"
              checked={showAll}
              onChange={(isChecked) => setParams({ all: isChecked ? '1' : null })}
            >
              Show revoked and expired keys ({formatNumber(inactive.length)})
            </Checkbox>
          )}
        </>
      )}
      {dialog?.action === 'create' && <CreateKey session={session} onClose={close} />}
      {dialog?.action === 'rotate' && (
        <RotateKey apiKey={dialog.key} isCurrent={isCurrent(dialog.key)} onClose={close} />
      )}
      {dialog?.action === 'revoke' && (
        <RevokeKey apiKey={dialog.key} isCurrent={isCurrent(dialog.key)} onClose={close} />
      )}
    </>
  )
}

/** Active keys in the order they were created; the others newest first. */
function splitByStatus(keys: Key[]): { active: KeyRow[]; inactive: KeyRow[] } {
  const now = Date.now()
  const rows = keys.map((key) => ({ key, status: statusOf(key, now) }))
  return {
    active: rows.filter(({ status }) => isActive(status)),
    inactive: rows.filter(({ status }) => !isActive(status)).reverse(),
  }
}

interface Props {
  apiKey: Key
  /** Whether it is the key of the current session. */
  isCurrent: boolean
  onClose: () => void
}

function RevokeKey({ apiKey, isCurrent, onClose }: Props) {
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
