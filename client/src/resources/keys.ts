import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { IssuedKey, Key, NewKey, PageQuery, Rotation } from '../types.ts'

export type Keys = ReturnType<typeof keys>

/** Needs a key with the role `admin`. */
export function keys(service: Transport) {
  return {
    /** Lists all keys, oldest first, including revoked ones. */
    list(query?: PageQuery, options?: RequestOptions): Pages<Key> {
      return createPages(service, '/keys', query, options)
    },

    /** Creates a key. Only this response contains the key itself. */
    create(body: NewKey = {}, options?: RequestOptions): Promise<IssuedKey> {
      return requestData(service, { method: 'POST', path: '/keys', body }, options)
    },

    /** Creates a key with the same name, role, prompts and lifetime. The old one keeps working for `overlap_hours`. */
    rotate(keyId: number, body: Rotation = {}, options?: RequestOptions): Promise<IssuedKey> {
      return requestData(service, { method: 'POST', path: `/keys/${keyId}/rotate`, body }, options)
    },

    /** Revokes a key at once, even the one that this client uses. */
    revoke(keyId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: `/keys/${keyId}` }, options)
    },
  }
}
