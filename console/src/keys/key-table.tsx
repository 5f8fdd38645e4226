import type { Key } from '@promptledger/client'
import { Ban, RotateCw } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { doesWork, type KeyState, KeyStateBadge } from './state.tsx'

interface Props {
  keys: { key: Key; state: KeyState }[]
  /** The id of the one that the reader is signed in with. */
  ownId: number
  onRotate: (key: Key) => void
  onRevoke: (key: Key) => void
}

export function KeyTable({ keys, ownId, onRotate, onRevoke }: Props) {
  return (
    <div className="table-frame">
      <table className="table key-table">
        <caption className="unseen">Keys</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Role</th>
            <th scope="col">State</th>
            <th scope="col">Created</th>
            <th scope="col">Expires</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="unseen">Acts</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, state }) => (
            <tr key={key.id} className={doesWork(state) ? undefined : 'dimmed'}>
              <th scope="row">
                <span className="key-name">
                  <strong>{key.name}</strong>
                  {key.id === ownId && <Badge>Signed in with</Badge>}
                </span>
                <code className="quiet">plk_…{key.hint}</code>
              </th>
              <td data-label="Role">{key.role}</td>
              <td data-label="State">
                <KeyStateBadge state={state} />
              </td>
              <td data-label="Created" className="nowrap">
                <Time at={key.created_at} as="date" />
              </td>
              <td data-label="Expires" className="nowrap">
                {key.expires_at === null ? (
                  <span className="quiet">Never</span>
                ) : (
                  <Time at={key.expires_at} as="date" />
                )}
              </td>
              <td data-label="Last used" className="nowrap">
                {key.last_used_at === null ? (
                  <span className="quiet">Never</span>
                ) : (
                  <Time at={key.last_used_at} as="ago" />
                )}
              </td>
              <td>
                {doesWork(state) && (
                  <div className="acts">
                    <Button onClick={() => onRotate(key)} aria-label={`Rotate ${key.name}`}>
                      <RotateCw aria-hidden="true" />
                      Rotate
                    </Button>
                    <Button onClick={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
                      <Ban aria-hidden="true" />
                      Revoke
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
