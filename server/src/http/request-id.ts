import { randomBase62 } from '../domain/random.ts'

const shape = /^[\w.-]{1,128}$/

/** Names requests. An id that a proxy has given is kept, so that its log and ours can be read together. */
export function requestIds(): (request: { headers: NodeJS.Dict<string | string[]> }) => string {
  const process = randomBase62(8)
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && shape.test(given) ? given : `${process}-${(++count).toString(36)}`
  }
}
