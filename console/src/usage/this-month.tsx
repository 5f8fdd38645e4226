import type { UsageReport } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'
import { Meter } from '../ui/meter.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { type Level, levelOf } from './level.ts'

const tones = { room: 'accent', near: 'caution', reached: 'bad' } as const

export function ThisMonth({ usage }: { usage: UsageReport }) {
  const { plan, limit, used, remaining, resets_at: resetsAt } = usage
  const level = levelOf(usage)
  const share = Math.floor((used / limit) * 100)
  const text = `${used.toLocaleString()} of ${limit.toLocaleString()} signals`
  return (
    <section className="card usage-month" aria-labelledby="this-month">
      <div className="usage-head">
        <h2 id="this-month">This month</h2>
        <Badge>{planNames[plan]} plan</Badge>
      </div>
      <p className="usage-figure">
        <strong>{used.toLocaleString()}</strong> of {limit.toLocaleString()} signals
      </p>
      <Meter label="Signals recorded this month" value={used} most={limit} tone={tones[level]} text={text} />
      <dl className="usage-facts">
        <div>
          <dt>Used</dt>
          <dd>{share} %</dd>
        </div>
        <div>
          <dt>Left</dt>
          <dd>{remaining.toLocaleString()}</dd>
        </div>
        <div>
          <dt>Starts anew</dt>
          <dd>
            <Time at={resetsAt} />{' '}
            <span className="quiet">
              (<Time at={resetsAt} as="ago" />)
            </span>
          </dd>
        </div>
      </dl>
      <Warning level={level} />
    </section>
  )
}

const planNames: Record<UsageReport['plan'], string> = { free: 'Free', team: 'Team', business: 'Business' }

function Warning({ level }: { level: Level }) {
  if (level === 'room') return null
  if (level === 'near') {
    return (
      <Notice tone="caution">
        Little is left of this month's limit. Once it is reached, signals are refused until the month ends, or the plan
        changes.
      </Notice>
    )
  }
  return (
    <Notice tone="bad">
      The limit is reached: signals are refused (429) and not recorded. They are taken again when the month ends, or at
      once on a larger plan: <code>promptledger org set-plan</code>.
    </Notice>
  )
}
