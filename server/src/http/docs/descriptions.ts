import { cookieName } from '../sessions/cookie.ts'
import type { Document } from './openapi-document.ts'

export const introduction = `
Every request under \`/api/v1\` carries an API key in the header \`Authorization: Bearer <API_KEY>\`. A key opens one
organisation; what belongs to another does not exist for it. A browser may exchange a key for a cookie instead (Sessions): what it then
changes with the cookie has to come from a page of this very service. Bodies are JSON, times are ISO 8601, UTC, with milliseconds.

The checks come in one order: key (401), role (403), path (404), parameters and body (422), limit (429). A request that fails one
of them changes nothing. Every error has the same body: \`error.code\` to branch on, \`error.message\` to read.

Lists come in pages: \`page\` counts from 1, \`limit\` is 25 unless given and 100 at most, and \`pagination\` tells how many there are.

Keys have roles. \`ingest\` records signals, nothing else: for applications. \`standard\` also reads. \`admin\` also manages prompts,
keys and repositories, erases signals, and sees who did what.

Every answer carries \`X-Request-Id\`; one that you send (letters, digits, \`.\`, \`_\`, \`-\`, up to 128) is kept.
`.trim()

export const tags: Document['tags'] = [
  { name: 'Prompts', description: 'What changes. Each has a public ID that begins with `pmt_`.' },
  { name: 'History', description: 'Who changed a prompt, when, and how the change went live.' },
  { name: 'Signals', description: "What users thought of a prompt's output: positive or negative." },
  { name: 'Impact', description: 'Which change made it better or worse.' },
  { name: 'Usage', description: "How much of the month's limit is used." },
  { name: 'Keys', description: 'API keys of the organisation.' },
  { name: 'Sessions', description: 'Signing in to the console with a key.' },
  { name: 'Repositories', description: 'Git repositories whose prompts are followed, and what their forges sent.' },
  { name: 'Audit', description: 'Who did what.' },
  { name: 'Service', description: 'For whoever runs the service. No key needed.' },
]

export const securitySchemes: Document['components']['securitySchemes'] = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key of the organisation.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName,
    description: 'A session that was begun with such a key. Where there is an Authorization header, that one counts.',
  },
  github: signature(
    'X-Hub-Signature-256',
    'GitHub: `sha256=` and the HMAC of the body with the secret of the webhook.',
  ),
  gitlab: signature('X-Gitlab-Token', 'GitLab: the secret of the webhook itself.'),
  gitlab_signed: signature('webhook-signature', 'GitLab with a signing token, in the way of Standard Webhooks.'),
  gitea: signature('X-Gitea-Signature', 'Gitea: the HMAC of the body, in hexadecimal digits.'),
  forgejo: signature('X-Forgejo-Signature', 'Forgejo: the HMAC of the body, in hexadecimal digits.'),
  bitbucket: signature('X-Hub-Signature', 'Bitbucket: `sha256=` and the HMAC of the body.'),
}

function signature(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description }
}
