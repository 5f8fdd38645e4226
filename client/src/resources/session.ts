import { requestData } from '../data.ts'
import { session as generated } from '../generated/resources.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { SessionInfo } from '../types.ts'

export type Session = ReturnType<typeof session>

/** For browsers: they send the key once, and from then on a cookie that scripts cannot read authenticates requests. */
export function session(service: Transport) {
  return {
    ...generated(service),

    /** Signs in with a key that has the role `standard` or `admin`. */
    create(key: string, options?: RequestOptions): Promise<SessionInfo> {
      const headers = { Authorization: `Bearer ${key}` }
      return requestData(service, { method: 'POST', path: '/session', headers }, options)
    },
  }
}
