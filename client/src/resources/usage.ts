import { requestData } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { UsageReport } from '../types.ts'

export type Usage = ReturnType<typeof usage>

export function usage(service: Transport) {
  return {
    /** Returns how much of this month's limit is used, and the usage of earlier months. */
    get(options?: RequestOptions): Promise<UsageReport> {
      return requestData(service, { method: 'GET', path: '/usage' }, options)
    },
  }
}
