import { requestData } from '../data.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { NewVote, Vote } from '../types.ts'

export type Votes = ReturnType<typeof votes>

export function votes(service: Transport) {
  return {
    /** Sends a vote with a token, as a page does. The last vote on the subject counts, so retries are safe. */
    create(body: NewVote, options?: RequestOptions): Promise<Vote> {
      return requestData(service, { method: 'POST', path: '/votes', body, isIdempotent: true }, options)
    },
  }
}
