import type { IssuedKey } from '@promptledger/client'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Notice } from '../ui/notice.tsx'
import { Start } from '../ui/start.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  issued: IssuedKey
  onClose: () => void
  children?: ReactNode
}

/** A new key, the one time that it can be seen. */
export function Issued({ issued, onClose, children }: Props) {
  return (
    <div className="form">
      <Start>
        <Notice tone="caution">Copy it now: it is shown only this once, and not kept in this page.</Notice>
      </Start>
      <Copy label={`Key “${issued.name}”`} text={issued.key} />
      <p className="quiet">
        Role {issued.role},{' '}
        {issued.expires_at === null ? (
          'never expires'
        ) : (
          <>
            expires on <Time at={issued.expires_at} />
          </>
        )}
        .
      </p>
      {children}
      <div className="form-end">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
