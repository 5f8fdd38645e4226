import type { UsageBody } from '../../../../contract/usage.ts'
import type { Usage } from '../../domain/signals/usage.ts'
import { isoTime } from '../../domain/time.ts'

export function toUsageBody({ resetsAt, months, ...usage }: Usage): { data: UsageBody } {
  const data = {
    ...usage,
    resets_at: isoTime(resetsAt),
    months: months.map(({ month, used }) => ({ month: isoTime(month).slice(0, 'yyyy-mm'.length), used })),
  }
  return { data }
}
