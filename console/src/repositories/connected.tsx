import type { ConnectedRepository } from '@promptledger/client'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Notice } from '../ui/notice.tsx'
import { Start } from '../ui/start.tsx'
import { Progress } from './progress.tsx'
import { SetUp } from './set-up.tsx'

interface Props {
  connected: ConnectedRepository
  onClose: () => void
}

/** A repository that was just connected, with the secret of its webhook the one time that it can be seen. */
export function Connected({ connected, onClose }: Props) {
  return (
    <div className="form">
      <Start>
        <Progress connected={connected} />
      </Start>
      <p>
        So that changes show up within seconds, have the forge tell of them. Until then it is looked at once an hour.
      </p>
      <Copy label="Webhook address" text={connected.webhook_url} />
      <Copy label="Webhook secret" text={connected.webhook_secret} />
      <Notice tone="caution">The secret is shown only this once. If it is lost, rotate it.</Notice>
      <h3>What to do there</h3>
      <SetUp steps={connected.set_up} />
      <div className="form-end">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
