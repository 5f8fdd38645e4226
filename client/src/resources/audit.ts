import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { AuditEntry, AuditQuery } from '../types.ts'

export type Audit = ReturnType<typeof audit>

/** For keys of role `admin`. */
export function audit(service: Transport) {
  return {
    /** Who did what, newest first. */
    list(query?: AuditQuery, options?: RequestOptions): Pages<AuditEntry> {
      return pages(service, '/audit', query, options)
    },
  }
}
