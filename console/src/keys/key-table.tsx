import type { Key } from '@promptledger/client'
import { Ban, RotateCw } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time, TimeOr } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { isActive, type KeyStatus, KeyStatusBadge } from './key-status.tsx'

export interface KeyRow {
  key: Key
  status: KeyStatus
}

interface Props {
  keys: KeyRow[]
  /** The key of the current session. */
  currentKeyId: number
  onRotate: (key: Key) => void
  onRevoke: (key: Key) => void
}

export function KeyTable({ keys, currentKeyId, onRotate, onRevoke }: Props) {
  const columns: Column<KeyRow>[] = [
    { header: 'Key', cell: ({ key }) => <KeyName apiKey={key} isCurrent={key.id === currentKeyId} /> },
    { header: 'ID', className: 'nowrap', cell: ({ key }) => <CopyableId id={key.id} what={`ID of ${key.name}`} /> },
    { header: 'Role', cell: ({ key }) => <KeyRole apiKey={key} /> },
    { header: 'Status', cell: ({ status }) => <KeyStatusBadge status={status} /> },
    { header: 'Created', className: 'nowrap', cell: ({ key }) => <Time at={key.created_at} as="date" /> },
    {
      header: 'Expires',
      className: 'nowrap',
      cell: ({ key }) => <TimeOr at={key.expires_at} as="date" none="Never" />,
    },
    {
      header: 'Last used',
      className: 'nowrap',
      cell: ({ key }) => <TimeOr at={key.last_used_at} as="relative" none="Never" />,
    },
    {
      header: 'Actions',
      isHeaderHidden: true,
      cell: ({ key, status }) =>
        isActive(status) && (
          <div className="row-actions">
            <Button onClick={() => onRotate(key)} aria-label={`Rotate ${visibleText(key.name)}`}>
              <RotateCw aria-hidden="true" />
              Rotate
            </Button>
            <Button onClick={() => onRevoke(key)} aria-label={`Revoke ${visibleText(key.name)}`}>
              <Ban aria-hidden="true" />
              Revoke
            </Button>
          </div>
        ),
    },
  ]
  return (
    <Table
      caption="Keys"
      columns={columns}
      rows={keys}
      rowKey={({ key }) => key.id}
      isDimmed={({ status }) => !isActive(status)}
    />
  )
}

function KeyName({ apiKey, isCurrent }: { apiKey: Key; isCurrent: boolean }) {
  return (
    <>
      <span className="key-name">
        <strong>
          <UntrustedText text={apiKey.name} />
        </strong>
        {isCurrent && <Badge>Current session</Badge>}
        {apiKey.person_id !== null && <Badge>Personal</Badge>}
      </span>
      <code className="muted">
        {apiKey.role === 'signing' ? 'pls_' : 'plk_'}…{apiKey.hint}
      </code>
    </>
  )
}

function KeyRole({ apiKey: { role, prompts } }: { apiKey: Key }) {
  return (
    <div>
      {role}
      {prompts !== null && (
        <div className="key-prompts muted">
          only{' '}
          <code>
            <UntrustedText text={prompts} />
          </code>
        </div>
      )}
    </div>
  )
}
