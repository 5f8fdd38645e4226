import type { Forge } from './forge.ts'
import { isForm, jsonOf } from './form-body.ts'
import { github } from './github.ts'
import { readGithubPayload } from './github-payload.ts'
import { forgeText, lastLineWith, mention, numberAfter, numberAt, numberInTitle } from './merge-reference.ts'
import { firstPrintableHeader, header, isSignedWith, sha256Header } from './webhook-signature.ts'

const ownSignatureHeaders = ['x-forgejo-signature', 'x-gitea-signature']
const eventHeaders = ['x-forgejo-event', 'x-gitea-event', 'x-github-event']
const deliveryHeaders = ['x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery']

// Where it says nothing else, it is like GitHub.
export const gitea: Forge = {
  ...github,
  title: 'Gitea',

  signatureHeaders: [...ownSignatureHeaders, 'x-hub-signature-256'],

  verifySignature({ headers, body }, secrets) {
    const own = ownSignatureHeaders.find((name) => headers[name] !== undefined)
    const signature = own === undefined ? sha256Header(headers, 'x-hub-signature-256') : header(headers, own)
    if (isSignedWith(secrets, body, signature)) return true
    // With the content type application/x-www-form-urlencoded, the signature covers the JSON in the form, not the body.
    return isForm(body) && isSignedWith(secrets, jsonOf(body.toString()), signature)
  },

  readHeaders(headers) {
    return {
      event: firstPrintableHeader(headers, eventHeaders) ?? '',
      deliveryId: firstPrintableHeader(headers, deliveryHeaders),
    }
  },

  readBody(event, body, receivedAt) {
    return readGithubPayload(event, body, receivedAt, { alwaysHasClosedAt: false })
  },

  pullPath(number) {
    return `/pulls/${number}`
  },

  mergeReference(commit) {
    const { parents, subject, message } = commit
    const reviewed = lastLineWith(message, 'Reviewed-on: ')
    return (
      forgeText(reviewed === null ? null : numberAfter(reviewed, '/pulls/'), repositoryIn(reviewed)) ??
      forgeText(parents >= 2 ? numberInMergeSubject(subject) : null) ??
      mention(numberInTitle(commit, ['#', '!', 'gh-']))
    )
  },

  // The committer is the user who clicked, so there is no way to tell.
  isForgeCommitter() {
    return false
  },

  setUpSteps: stepsFor('gitea', 'Push, Pull Request, Pull Request Labeled and Pull Request Synchronized'),
}

export const forgejo: Forge = {
  ...gitea,
  title: 'Forgejo',
  setUpSteps: stepsFor('forgejo', 'Push and, below Pull request events, Modification, Labels and Synchronized'),
}

/** `acme/prompts` from `https://gitea.example/acme/prompts/pulls/7`. */
function repositoryIn(reviewed: string | null): string | null {
  const [, path] = /^https?:\/\/[^/\s]+\/([^\s?#]+)\/pulls\/\d+$/.exec(reviewed?.slice(0, 1_000) ?? '') ?? []
  return path?.toLowerCase() ?? null
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
