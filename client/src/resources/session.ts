import { dataOf } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { SessionInfo } from '../types.ts'

export type Session = ReturnType<typeof session>

/** For browsers: the key is handed over once, and from then on a cookie that no script can read speaks for it. */
export function session(service: Transport) {
  const path = '/session'
  return {
    /** Signs in with a key of role `standard` or `admin`. */
    create(key: string, options?: RequestOptions): Promise<SessionInfo> {
      return dataOf(service, { method: 'POST', path, headers: { Authorization: `Bearer ${key}` } }, options)
    },

    /** Who is signed in. */
    get(options?: RequestOptions): Promise<SessionInfo> {
      return dataOf(service, { method: 'GET', path }, options)
    },

    /** Signs out. */
    delete(options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path }, options)
    },
  }
}
