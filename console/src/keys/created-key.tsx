import type { IssuedKey } from '@promptledger/client'
import type { ReactNode } from 'react'
import { CopyField } from '../ui/copy-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  created: IssuedKey
  onClose: () => void
  children?: ReactNode
}

/** Shows a new key. The service stores only its hash, so this is the only time. */
export function CreatedKey({ created, onClose, children }: Props) {
  const warning = <Notice tone="caution">Copy the key now. It will not be shown again.</Notice>
  return (
    <ResultDialog title="Key created" lead={warning} onClose={onClose}>
      <CopyField label={`Key “${created.name}”`} value={created.key} />
      <p className="muted">
        Role {created.role}, {created.prompts !== null && `limited to ${created.prompts}, `}
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
    </ResultDialog>
  )
}
