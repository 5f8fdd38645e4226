import { randomBytes } from 'node:crypto'
import type { Forge } from './forge.ts'
import { readFamily } from './github-family.ts'
import { firstLabel, sha256Header } from './headers.ts'
import { numberAt, numberAtEnd } from './mark.ts'
import { isSigned } from './signature.ts'

export const github: Forge = {
  title: 'GitHub',
  tokenUser: 'x-access-token',

  verify({ headers, body }, secrets) {
    return isSigned(body, sha256Header(headers, 'x-hub-signature-256'), secrets)
  },

  describe(headers) {
    return {
      event: firstLabel(headers, ['x-github-event']) ?? '',
      deliveryId: firstLabel(headers, ['x-github-delivery']),
    }
  },

  read(event, body) {
    return readFamily(event, body, { tellsClosing: true })
  },

  newSecret() {
    return randomBytes(32).toString('hex')
  },

  pullRef(number) {
    return `refs/pull/${number}/head`
  },

  commitPath(sha) {
    return `/commit/${sha}`
  },

  pullPath(number) {
    return `/pull/${number}`
  },

  markOf({ parents, subject }) {
    const merged = parents >= 2 ? numberAt(subject, 0, 'Merge pull request #', ' from ') : null
    return merged ?? numberAtEnd(subject, '#')
  },

  isCommitter({ email }) {
    return email === 'noreply@github.com'
  },

  setUp({ url, secret, webUrl }) {
    return [
      `Open ${webUrl}/settings/hooks/new`,
      `Payload URL: ${url}, Content type: application/json, Secret: ${secret}`,
      'Choose "Let me select individual events" and tick Pushes and Pull requests.',
      'Leave Active ticked and press "Add webhook".',
    ]
  },
}
