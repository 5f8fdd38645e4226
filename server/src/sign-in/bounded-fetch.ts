import type { CustomFetch } from 'openid-client'
import { sendRequest } from '../net/request.ts'

const timeoutMs = 10_000
// Far more than any provider's keys or metadata.
const maxResponseBytes = 512 * 1024

/** Sends the requests of openid-client to a host that the operator chose, which may be private, and reads a bounded response. */
export function boundedFetch(allowHttp: boolean): CustomFetch {
  return async (url, { method, headers, body }) => {
    const result = await sendRequest({ allowPrivate: true, allowHttp }, url, {
      method: method as 'GET' | 'POST',
      headers: { ...headers },
      body: body == null ? null : String(body),
      maxResponseBytes,
      timeoutMs,
    })
    if (result.kind === 'failure') throw new TypeError(result.reason)
    const { status, body: text, isTruncated } = result
    if (isTruncated) throw new TypeError('The response is too long.')
    const received = new Headers()
    for (const [name, value] of Object.entries(result.headers)) {
      if (value !== undefined) received.set(name, [value].flat().join(', '))
    }
    return new Response([204, 205, 304].includes(status) ? null : text, { status, headers: received })
  }
}
