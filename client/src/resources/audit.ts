import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { AuditEntry, AuditQuery } from '../types.ts'

export type Audit = ReturnType<typeof audit>

/** Needs a key with the role `admin`. */
export function audit(service: Transport) {
  return {
    /** Lists who did what, newest first. */
    list(query?: AuditQuery, options?: RequestOptions): Pages<AuditEntry> {
      return createPages(service, '/audit', query, options)
    },
  }
}
