import type { Organisation } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { Badge } from '../ui/badge.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Meter } from '../ui/meter.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { planCommand, planLabels } from '../usage/plan.ts'
import { useUsage } from '../usage/usage-query.ts'

const nearShare = 0.8

export function Limits({ organisation }: { organisation: Organisation }) {
  const { id, plan, limits, signal_retention_days: days } = organisation
  const usage = useUsage()
  const repositories = useQuery({
    queryKey: ['repositories', 'count'],
    queryFn: async ({ signal }) => (await ledger.repositories.list({ limit: 1 }, { signal })).pagination.total_count,
  })
  const alerts = useQuery({
    queryKey: ['alerts', 'count'],
    queryFn: async ({ signal }) => (await ledger.alerts.list({ limit: 1 }, { signal })).pagination.total_count,
  })
  return (
    <section className="card" aria-labelledby="limits">
      <div className="settings-head">
        <h2 id="limits">Plan and limits</h2>
        <Badge>{planLabels[plan]} plan</Badge>
      </div>
      <ul className="limits">
        <Limit name="Signals this month" to="/usage" used={usage.data?.used} max={limits.signals_per_month} />
        <Limit name="Repositories" to="/repositories" used={repositories.data} max={limits.repositories} />
        <Limit name="Alerts" to="/alerts" used={alerts.data} max={limits.alerts} />
      </ul>
      <p className="muted">
        {days === null
          ? 'Signals are kept until they are deleted or erased.'
          : `Signals are deleted after ${countOf(days, 'day')}. Counts and verdicts stay.`}
      </p>
      <p className="muted">
        Only the operator of this service can change the plan. The settings <code>PLAN_LIMITS</code>,{' '}
        <code>REPOSITORIES_PER_ORGANISATION</code> and <code>SIGNAL_RETENTION_DAYS</code> apply to all organisations.
      </p>
      <CopyField label="Command that changes the plan" value={planCommand(id, plan)} />
    </section>
  )
}

interface LimitProps {
  name: string
  to: string
  used: number | undefined
  /** Null without a limit. */
  max: number | null
}

function Limit({ name, to, used = 0, max }: LimitProps) {
  const text = max === null ? `${formatNumber(used)}, no limit` : `${formatNumber(used)} of ${formatNumber(max)}`
  const tone = max === null || used < max * nearShare ? 'accent' : used < max ? 'caution' : 'bad'
  return (
    <li>
      <p>
        <Link href={to}>{name}</Link>
        <span>{text}</span>
      </p>
      {max !== null && <Meter label={name} value={used} max={max} tone={tone} text={text} />}
    </li>
  )
}
