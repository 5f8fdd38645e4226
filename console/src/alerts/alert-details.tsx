import type { Alert } from '@promptledger/client'
import { CopyableId } from '../ui/copy-button.tsx'
import { Detail } from '../ui/detail.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { channelLabels, targetFields } from './channels.ts'
import { allEvents, eventLabels } from './events.ts'

export function AlertDetails({ alert }: { alert: Alert }) {
  const { channel, events, hold_minutes: hold, repeat_hours: repeat, old_secret_until: oldSecretUntil } = alert
  return (
    <section className="card alert-details" aria-label="Details">
      {alert.state === 'disabled' && (
        <Notice tone="bad">
          <strong>Nothing is sent to this alert.</strong> <UntrustedText text={alert.disabled_reason ?? ''} />
        </Notice>
      )}
      {oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now() && (
        <Notice>
          Requests are signed with the new and the old secret until <Time at={oldSecretUntil} />.
        </Notice>
      )}
      <dl className="details-list even">
        <Detail name="Channel">{channelLabels[channel]}</Detail>
        <Detail name={targetFields[channel].label}>
          <UntrustedText text={alert.target_hint} />
        </Detail>
        {channel === 'slack' && (
          <Detail name="Owner">{alert.has_slack_token ? 'Mentioned, with a bot token' : 'Named, not mentioned'}</Detail>
        )}
        <Detail name="Prompts">
          {alert.prompts === '**' ? (
            'All'
          ) : (
            <code>
              <UntrustedText text={alert.prompts} />
            </code>
          )}
        </Detail>
        <Detail name="Told after">
          {formatMinutes(hold)} and {formatNumber(alert.min_signals)} signals
        </Detail>
        <Detail name="Recovery told after">{formatMinutes(alert.recovery_hold_minutes)}</Detail>
        <Detail name="Repeated">{repeat === null ? 'Never' : `Every ${repeat} hours`}</Detail>
        <Detail name="Events">
          {allEvents(events) ?? (events.map((event) => eventLabels[event]).join('; ') || 'None')}
        </Detail>
        {channel === 'cloudevents' && <Detail name="Signals">{alert.signals ? 'Sent' : 'Not sent'}</Detail>}
        <Detail name="Added on">
          <Time at={alert.created_at} />
        </Detail>
        <Detail name="ID">
          <CopyableId id={alert.id} what="alert ID" />
        </Detail>
      </dl>
    </section>
  )
}

function formatMinutes(minutes: number): string {
  if (minutes === 0) return 'At once'
  return minutes === 1 ? '1 minute' : `${formatNumber(minutes)} minutes`
}
