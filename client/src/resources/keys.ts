import { dataOf } from '../data.ts'
import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { IssuedKey, Key, NewKey, PageQuery, Rotation } from '../types.ts'

export type Keys = ReturnType<typeof keys>

/** For keys of role `admin`. */
export function keys(service: Transport) {
  return {
    /** Oldest first, revoked ones too. */
    list(query?: PageQuery, options?: RequestOptions): Pages<Key> {
      return pages(service, '/keys', query, options)
    },

    /** The new key is shown this once. */
    create(body: NewKey = {}, options?: RequestOptions): Promise<IssuedKey> {
      return dataOf(service, { method: 'POST', path: '/keys', body }, options)
    },

    /** A new key like it; the old one works on for a while. */
    rotate(keyId: number, body: Rotation = {}, options?: RequestOptions): Promise<IssuedKey> {
      return dataOf(service, { method: 'POST', path: `/keys/${keyId}/rotate`, body }, options)
    },

    /** Refused from then on, also where it is the one that asks. */
    revoke(keyId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: `/keys/${keyId}` }, options)
    },
  }
}
