import type { IssuedKey } from '@promptledger/client'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { InitialFocus } from '../ui/initial-focus.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  created: IssuedKey
  onClose: () => void
  children?: ReactNode
}

/** Shows a new key. The service stores only its hash, so this is the only time. */
export function CreatedKey({ created, onClose, children }: Props) {
  return (
    <Dialog title="Key created" onClose={onClose}>
      <div className="form">
        <InitialFocus>
          <Notice tone="caution">Copy the key now. It will not be shown again.</Notice>
        </InitialFocus>
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
        <div className="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
