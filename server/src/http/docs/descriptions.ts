import { cookieNameOf } from '../sessions/cookie.ts'
import type { Document, Parameter } from './openapi-document.ts'

export const introduction = `
Every request under \`/api/v1\` needs an API key in the header \`Authorization: Bearer <API_KEY>\`. A key belongs to one
organisation and cannot see resources of another. A browser can exchange a key for a session cookie (see Sessions); changes made with the
cookie must come from a page of this service. Bodies are JSON. Times are ISO 8601 in UTC with milliseconds.

Every request is checked in the same order: key (401), role (403), path (404), parameters and body (422), monthly limit (429). A request
that fails a check changes nothing. Every error has the same body: \`error.code\` for programs, \`error.message\` for people.

Lists are paginated. \`page\` starts at 1, \`limit\` defaults to 25 and is at most 100, and \`pagination\` has the totals.

Every key has a role. \`ingest\` can only create signals: use it in applications. \`recorder\` can only record history entries and
deployments: use it in CI. \`delivery\` fetches the texts of prompts for an application. \`reader\` can only read. \`deploy\` can also record deployments and run trials. \`standard\` can create signals, read, and delete signals. \`admin\` can also record history and
deployments, manage prompts, keys, repositories and alerts, erase signals, and read the audit log. A key can be limited to the prompts that match a glob; all other
prompts are not found.

Lengths in characters count Unicode code points, so an emoji such as 😀 is one character, however it is encoded.

Every response has the header \`X-Request-Id\`. If you send one (letters, digits, \`.\`, \`_\`, \`-\`, up to 128 characters), it is reused.
`.trim()

export const tags: Document['tags'] = [
  { name: 'Prompts', description: 'The prompts of your organisation. Each has a public ID that starts with `pmt_`.' },
  { name: 'History', description: 'Who changed a prompt, when, and how the change went live.' },
  { name: 'Deployments', description: 'Which version is live, where that is known from deployments.' },
  { name: 'Text delivery', description: 'The live texts of prompts, for applications that fetch them.' },
  {
    name: 'Trials',
    description: 'Pull requests that some users get before they are merged, and what they think of them.',
  },
  { name: 'Signals', description: "User feedback on a prompt's output: positive or negative." },
  {
    name: 'OpenTelemetry',
    description: 'What OpenTelemetry exporters sent to `/v1/logs` and `/v1/traces`, and how evaluations are read.',
  },
  { name: 'Impact', description: 'Which changes made user feedback better or worse.' },
  {
    name: 'Regressions',
    description: 'Changes that made prompts worse and are not repaired yet, and when rates moved.',
  },
  { name: 'Alerts', description: 'Where people are told about regressions, and what was sent.' },
  { name: 'Organisation', description: 'Your organisation: its name, its plan and its limits.' },
  { name: 'Usage', description: "How much of the plan's monthly limit is used." },
  { name: 'People', description: 'Who may sign in to the console, and with which role.' },
  { name: 'Keys', description: 'The API keys of your organisation.' },
  { name: 'Share links', description: 'Links that show one prompt to people without a key, until they expire.' },
  { name: 'Sessions', description: 'Who is signed in to the console.' },
  { name: 'Repositories', description: 'Connected git repositories, and the webhook deliveries of their forges.' },
  {
    name: 'Events',
    description:
      'The requests that alerts with the channel `webhook` send, as https://www.standardwebhooks.com defines them. Verify the ' +
      'signature with one of its libraries and the secret of the alert, respond with 2xx within 10 s, and ignore a `webhook-id` ' +
      'that you know already: a message is sent at least once. Further fields may be added.',
  },
  {
    name: 'Sources',
    description: 'Products that send feedback: their webhooks are recorded as signals.',
  },
  { name: 'Audit', description: 'Who changed what, and when.' },
  { name: 'Service', description: 'For operators. No key needed.' },
]

export const securitySchemes: Document['components']['securitySchemes'] = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key of the organisation.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieNameOf('session', '…', 'http:'),
    description:
      'A session that was started with a key. Ignored if the request has an Authorization header. Each installation has a name ' +
      `of its own for it. Over https it is \`${cookieNameOf('session', '…', 'https:')}\`.`,
  },
  github: signature('X-Hub-Signature-256', 'GitHub: `sha256=` and the HMAC of the body with the webhook secret.'),
  gitlab: signature('X-Gitlab-Token', 'GitLab: the webhook secret itself.'),
  gitlab_signed: signature('webhook-signature', 'GitLab with a signing token, as defined by Standard Webhooks.'),
  gitea: signature('X-Gitea-Signature', 'Gitea: the hexadecimal HMAC of the body.'),
  forgejo: signature('X-Forgejo-Signature', 'Forgejo: the hexadecimal HMAC of the body.'),
  webhook_signature: signature(
    'webhook-signature',
    "`v1,` and the HMAC-SHA256 of ID, timestamp and body, joined by dots, with the alert's secret. During a rotation there are two.",
  ),
  source_signature: signature(
    'X-Promptledger-Signature',
    'The adapters `webhook`, `open-webui` and `librechat`: `sha256=` and the hexadecimal HMAC of the body with the secret of the source.',
  ),
  source_secret: {
    type: 'http',
    scheme: 'bearer',
    description: 'The adapters `langsmith` and `posthog`: the secret of the source.',
  },
  slack: signature('X-Slack-Signature', 'Slack: `v0=` and the HMAC of version, timestamp and body.'),
  intercom: signature('X-Hub-Signature', 'Intercom: `sha1=` and the HMAC of the body.'),
  zendesk: signature('X-Zendesk-Webhook-Signature', 'Zendesk: the HMAC of timestamp and body, in base64.'),
  bitbucket: signature('X-Hub-Signature', 'Bitbucket: `sha256=` and the HMAC of the body.'),
}

export const webhookHeaders: Parameter[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'Identifies the message. The same in every attempt',
    schema: { type: 'string', examples: ['msg_4kQ9sVbL2xTf7Zc1RnWy8HdP'] },
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'When this attempt was made, in seconds since 1970',
    schema: { type: 'integer', examples: [1794680400] },
  },
]

function signature(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description }
}
