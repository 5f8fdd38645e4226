import type { SessionInfo, UsageReport } from '@promptledger/client'
import { X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Time } from '../ui/time.tsx'
import { limitLevel } from './plan.ts'
import { useUsage } from './usage-query.ts'

const storageKey = 'promptledger-limit-warning'

/** On every page from 80% of the monthly limit. Only the warning before the limit can be dismissed, for this month. */
export function LimitBanner({ session }: { session: SessionInfo }) {
  const { data: usage } = useUsage()
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(storageKey))
  if (usage === undefined || usage.limit === null) return null
  const level = limitLevel(usage)
  const warning = `${session.organisation.id} ${usage.resets_at} ${level}`
  if (level === 'ok' || (level === 'near' && dismissed === warning)) return null
  function dismiss() {
    setDismissed(warning)
    localStorage.setItem(storageKey, warning)
  }
  return (
    <aside className="limit-banner" aria-label="Monthly limit">
      <Notice tone={level === 'near' ? 'caution' : 'bad'}>
        <Explanation usage={usage} isAdmin={session.key.role === 'admin'} />
      </Notice>
      {level === 'near' && (
        <button type="button" className="icon-button" aria-label="Dismiss for this month" onClick={dismiss}>
          <X aria-hidden="true" />
        </button>
      )}
    </aside>
  )
}

function Explanation({ usage, isAdmin }: { usage: UsageReport; isAdmin: boolean }) {
  const { used, limit, resets_at: resetsAt } = usage
  const isReached = limitLevel(usage) === 'reached'
  const share = `${formatNumber(used)} of ${formatNumber(limit ?? 0)} signals`
  return (
    <>
      <strong>
        {isReached ? `This month's limit is reached: ${share}.` : `${share} of this month's limit are used.`}
      </strong>{' '}
      {isReached
        ? 'New signals are rejected (429) and not recorded until '
        : 'At the limit, new signals are rejected until '}
      <Time at={resetsAt} />
      {isAdmin ? ', or until the plan is changed.' : ', or until an administrator changes the plan.'}{' '}
      <Link href="/usage">{isReached ? 'What to do' : 'See usage'}</Link>
    </>
  )
}
