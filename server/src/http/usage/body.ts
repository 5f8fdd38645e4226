import type { Usage } from '../../domain/signals/usage.ts'
import { isoTime } from '../../domain/time.ts'
import type { UsageBody } from './schema.ts'

export function toUsageBody({ resetsAt, months, ...usage }: Usage): UsageBody {
  const data = {
    ...usage,
    resets_at: isoTime(resetsAt),
    months: months.map(({ month, used }) => ({ month: isoTime(month).slice(0, 'yyyy-mm'.length), used })),
  }
  return { data }
}
