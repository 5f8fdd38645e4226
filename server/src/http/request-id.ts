import { randomBase62 } from '../domain/random.ts'

const validId = /^[\w.-]{1,128}$/

/** Assigns request ids. A valid id from a proxy is reused, so that its log and ours can be correlated. */
export function createRequestIds(): (request: { headers: NodeJS.Dict<string | string[]> }) => string {
  const prefix = randomBase62(8)
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && validId.test(given) ? given : `${prefix}-${(++count).toString(36)}`
  }
}
