import type { Key, SessionInfo } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useAddress } from '../address.ts'
import { KeyTable } from '../keys/key-table.tsx'
import { NewKey } from '../keys/new-key.tsx'
import { RevokeKey } from '../keys/revoke-key.tsx'
import { RotateKey } from '../keys/rotate-key.tsx'
import { doesWork, stateOf } from '../keys/state.tsx'
import { ledger } from '../ledger.ts'
import { useTitle } from '../title.ts'
import { Button } from '../ui/button.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'

type Open = { act: 'create' } | { act: 'rotate' | 'revoke'; key: Key }

export function KeysPage({ session }: { session: SessionInfo }) {
  useTitle('Keys')
  const [address, change] = useAddress()
  const showAll = address.has('all')
  const [open, setOpen] = useState<Open | null>(null)
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.keys.list({}, { signal })),
  })
  const close = () => setOpen(null)
  const isOwn = ({ id }: Key) => id === session.key.id
  const { working, ended } = sorted(keys.data ?? [])
  return (
    <>
      <div className="page-head">
        <h1>Keys</h1>
        <Button kind="primary" onClick={() => setOpen({ act: 'create' })}>
          <Plus aria-hidden="true" />
          New key
        </Button>
      </div>
      {keys.isPending && <Loading what="keys" />}
      {keys.isError && <Failure error={keys.error} retry={keys.refetch} />}
      {keys.data && (
        <>
          <KeyTable
            keys={showAll ? [...working, ...ended] : working}
            ownId={session.key.id}
            onRotate={(key) => setOpen({ act: 'rotate', key })}
            onRevoke={(key) => setOpen({ act: 'revoke', key })}
          />
          {ended.length > 0 && (
            <label className="list-choice">
              <input
                type="checkbox"
                checked={showAll}
                onChange={({ target }) => change({ all: target.checked ? '1' : null })}
              />
              Show those that no longer work ({ended.length.toLocaleString()})
            </label>
          )}
        </>
      )}
      {open?.act === 'create' && <NewKey onClose={close} />}
      {open?.act === 'rotate' && <RotateKey ofKey={open.key} isOwn={isOwn(open.key)} onClose={close} />}
      {open?.act === 'revoke' && <RevokeKey ofKey={open.key} isOwn={isOwn(open.key)} onClose={close} />}
    </>
  )
}

function sorted(keys: Key[]) {
  const now = Date.now()
  const all = keys.map((key) => ({ key, state: stateOf(key, now) }))
  return {
    working: all.filter(({ state }) => doesWork(state)),
    ended: all.filter(({ state }) => !doesWork(state)).reverse(),
  }
}
