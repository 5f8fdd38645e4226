import { randomBytes } from 'node:crypto'
import type { Forge } from './forge.ts'
import { readFamily } from './github-family.ts'
import { firstLabel, header, sha256Header } from './headers.ts'
import { lastLineWith, numberAfter, numberAt, numberAtEnd } from './mark.ts'
import { isSigned } from './signature.ts'

const eventHeaders = ['x-forgejo-event', 'x-gitea-event', 'x-github-event']
const deliveryHeaders = ['x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery']

export const gitea: Forge = {
  title: 'Gitea',
  tokenUser: 'x-access-token',

  verify({ headers, body }, secrets) {
    const bare = ['x-forgejo-signature', 'x-gitea-signature'].find((name) => headers[name] !== undefined)
    const signature = bare === undefined ? sha256Header(headers, 'x-hub-signature-256') : header(headers, bare)
    return isSigned(body, signature, secrets)
  },

  describe(headers) {
    return { event: firstLabel(headers, eventHeaders) ?? '', deliveryId: firstLabel(headers, deliveryHeaders) }
  },

  read(event, body) {
    return readFamily(event, body, { tellsClosing: false })
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
    return `/pulls/${number}`
  },

  markOf({ parents, subject, message }) {
    const reviewed = lastLineWith(message, 'Reviewed-on: ')
    return (
      (reviewed === null ? null : numberAfter(reviewed, '/pulls/')) ??
      (parents >= 2 ? mergedNumber(subject) : null) ??
      numberAtEnd(subject, '#!')
    )
  },

  // Its commits carry the name and address of whoever pressed the button.
  isCommitter() {
    return false
  },

  setUp: steps('gitea', 'Push, Pull Request and Pull Request Synchronized'),
}

export const forgejo: Forge = {
  ...gitea,
  title: 'Forgejo',
  setUp: steps('forgejo', 'Push and, below Pull request events, Modification and Synchronized'),
}

// Merge pull request 'title' (#1) from branch into main. The title may hold anything, what comes after it no blank.
function mergedNumber(subject: string): number | null {
  if (!subject.startsWith("Merge pull request '")) return null
  const end = subject.lastIndexOf("' (")
  return numberAt(subject, end, "' (#", ') from ') ?? numberAt(subject, end, "' (!", ') from ')
}

function steps(type: string, events: string): Forge['setUp'] {
  return ({ url, secret, webUrl }) => [
    `Open ${webUrl}/settings/hooks/${type}/new`,
    `Target URL: ${url}, HTTP method: POST, POST content type: application/json, Secret: ${secret}`,
    `Trigger on: custom events; tick ${events}.`,
    'Leave the branch filter as it is and press "Add webhook".',
  ]
}
