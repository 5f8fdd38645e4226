import { randomBytes } from 'node:crypto'
import type { Forge } from './forge.ts'
import { readGithubPayload } from './github-payload.ts'
import { forgeText, mention, numberAt, numberInTitle } from './merge-reference.ts'
import { firstPrintableHeader, isSignedWith, sha256Header } from './webhook-signature.ts'

export const github: Forge = {
  title: 'GitHub',
  tokenUser: 'x-access-token',

  signatureHeaders: ['x-hub-signature-256'],

  verifySignature({ headers, body }, secrets) {
    return isSignedWith(secrets, body, sha256Header(headers, 'x-hub-signature-256'))
  },

  readHeaders(headers) {
    return {
      event: firstPrintableHeader(headers, ['x-github-event']) ?? '',
      deliveryId: firstPrintableHeader(headers, ['x-github-delivery']),
    }
  },

  readBody(event, body, receivedAt) {
    return readGithubPayload(event, body, receivedAt, { alwaysHasClosedAt: true })
  },

  generateSecret() {
    return randomBytes(32).toString('hex')
  },

  pullRef(number) {
    return `refs/pull/${number}/head`
  },

  pullRefPattern: 'refs/pull/*/head',
  keepsPullRefs: true,
  namesPagesInMessages: false,

  commitPath(sha) {
    return `/commit/${sha}`
  },

  pullPath(number) {
    return `/pull/${number}`
  },

  mergeReference(commit) {
    const { parents, subject } = commit
    const merged = parents >= 2 ? numberAt(subject, 0, 'Merge pull request #', ' from ') : null
    return forgeText(merged) ?? mention(numberInTitle(commit, ['#', 'gh-']))
  },

  isForgeCommitter({ email }) {
    return email === 'noreply@github.com'
  },

  setUpSteps({ url, secret, webUrl }) {
    return [
      `Open ${webUrl}/settings/hooks/new`,
      `Payload URL: ${url}, Content type: application/json, Secret: ${secret}`,
      'Choose "Let me select individual events" and select Pushes, Pull requests and Deployment statuses.',
      'Leave Active selected and click "Add webhook".',
    ]
  },
}
