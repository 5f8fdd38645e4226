import { randomBytes } from 'node:crypto'
import type { Forge } from './forge.ts'
import { readGithubPayload } from './github-payload.ts'
import { lastLineWith, numberAfter, numberAt, numberAtEnd } from './merge-reference.ts'
import { firstPrintableHeader, header, sha256Header } from './webhook-headers.ts'
import { isSignedWith } from './webhook-signature.ts'

const eventHeaders = ['x-forgejo-event', 'x-gitea-event', 'x-github-event']
const deliveryHeaders = ['x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery']

export const gitea: Forge = {
  title: 'Gitea',
  tokenUser: 'x-access-token',

  verifySignature({ headers, body }, secrets) {
    const own = ['x-forgejo-signature', 'x-gitea-signature'].find((name) => headers[name] !== undefined)
    const signature = own === undefined ? sha256Header(headers, 'x-hub-signature-256') : header(headers, own)
    return isSignedWith(secrets, body, signature)
  },

  readHeaders(headers) {
    return {
      event: firstPrintableHeader(headers, eventHeaders) ?? '',
      deliveryId: firstPrintableHeader(headers, deliveryHeaders),
    }
  },

  readBody(event, body) {
    return readGithubPayload(event, body, { alwaysHasClosedAt: false })
  },

  generateSecret() {
    return randomBytes(32).toString('hex')
  },

  pullRef(number) {
    return `refs/pull/${number}/head`
  },

  commitPath(sha) {
    return `/commit/${sha}`
  },

  pullPath(number) {
    return `/pulls/${number}`
  },

  mergeReference({ parents, subject, message }) {
    const reviewed = lastLineWith(message, 'Reviewed-on: ')
    return (
      (reviewed === null ? null : numberAfter(reviewed, '/pulls/')) ??
      (parents >= 2 ? numberInMergeSubject(subject) : null) ??
      numberAtEnd(subject, '#!')
    )
  },

  // The committer is the user who clicked, so there is no way to tell.
  isForgeCommitter() {
    return false
  },

  setUpSteps: stepsFor('gitea', 'Push, Pull Request and Pull Request Synchronized'),
}

export const forgejo: Forge = {
  ...gitea,
  title: 'Forgejo',
  setUpSteps: stepsFor('forgejo', 'Push and, below Pull request events, Modification and Synchronized'),
}

// Merge pull request 'title' (#1) from branch into main. A title can contain anything but a branch name has no space, so the
// last match is the number.
function numberInMergeSubject(subject: string): number | null {
  if (!subject.startsWith("Merge pull request '")) return null
  const end = subject.lastIndexOf("' (")
  return numberAt(subject, end, "' (#", ') from ') ?? numberAt(subject, end, "' (!", ') from ')
}

function stepsFor(type: string, events: string): Forge['setUpSteps'] {
  return ({ url, secret, webUrl }) => [
    `Open ${webUrl}/settings/hooks/${type}/new`,
    `Target URL: ${url}, HTTP method: POST, POST content type: application/json, Secret: ${secret}`,
    `Trigger on: custom events; select ${events}.`,
    'Leave the branch filter unchanged and click "Add webhook".',
  ]
}
