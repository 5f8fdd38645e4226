import { dataOf } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { UsageReport } from '../types.ts'

export type Usage = ReturnType<typeof usage>

export function usage(service: Transport) {
  return {
    /** What of this month's limit is used and left, and what the months before used. */
    get(options?: RequestOptions): Promise<UsageReport> {
      return dataOf(service, { method: 'GET', path: '/usage' }, options)
    },
  }
}
