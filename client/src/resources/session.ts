import { requestData } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { SessionInfo } from '../types.ts'

export type Session = ReturnType<typeof session>

/** For browsers: they send the key once, and from then on a cookie that scripts cannot read authenticates requests. */
export function session(service: Transport) {
  const path = '/session'
  return {
    /** Signs in with a key that has the role `standard` or `admin`. */
    create(key: string, options?: RequestOptions): Promise<SessionInfo> {
      return requestData(service, { method: 'POST', path, headers: { Authorization: `Bearer ${key}` } }, options)
    },

    /** Returns the current session. */
    get(options?: RequestOptions): Promise<SessionInfo> {
      return requestData(service, { method: 'GET', path }, options)
    },

    /** Signs out. */
    delete(options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path }, options)
    },
  }
}
