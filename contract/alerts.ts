import type { FromSchema } from 'json-schema-to-ts'
import { channels, maxAlerts, tooManyAlerts } from '../server/src/domain/alerts/alert.ts'
import { alertStates, testLimitError } from '../server/src/domain/alerts/alert-service.ts'
import { alertDeliveryStates } from '../server/src/domain/alerts/delivery.ts'
import { alertEvents, defaultEvents, deliveryEvents } from '../server/src/domain/alerts/event.ts'
import { ruleLimits } from '../server/src/domain/alerts/rules.ts'
import { maxWaitingSignals } from '../server/src/domain/alerts/signal-event.ts'
import { hour, minute } from '../server/src/domain/time.ts'
import { errorBody } from '../server/src/http/errors.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample } from './prompt-id.ts'
import {
  conflictSchema,
  invalidSchema,
  limitedSchema,
  list,
  object,
  one,
  overlapSchema,
  pageQuerySchema,
  textOrNull,
  time,
  timeOrNull,
} from './schema.ts'

/** The alert that a delivery goes to. */
const recipient = object({ id: { type: 'string' }, name: { type: 'string' }, channel: { enum: channels } })

const concernedPrompt = object({
  id: { type: 'string', description: 'The public ID (prefix pmt_)' },
  name: { type: 'string' },
  regression_id: { type: ['integer', 'null'], description: 'Null if the rate moved without a change' },
})

/** Whether a message goes to an alert, or is a comment on a pull request. */
export const destinationSchema = { enum: ['alert', 'pull_request'] } as const

const deliverySchema = object(
  {
    id: { type: 'string', description: 'Starts with msg_. The same in every attempt, so that receivers recognise it' },
    destination: destinationSchema,
    alert: {
      anyOf: [recipient, { type: 'null' }],
      description: 'Null for a comment on a pull request, and if the alert was removed',
    },
    event: {
      enum: deliveryEvents,
      description:
        '`regression.dismissed` only resolves incidents of PagerDuty, closes issues in Linear and updates comments on pull requests',
    },
    prompts: { type: 'array', items: concernedPrompt, description: 'The prompts that it is about, at most ten' },
    state: {
      enum: alertDeliveryStates,
      description:
        '`pending` while attempts are left, `failed` after 3 days, `cancelled` if the alert was removed or the message is no ' +
        'longer true',
    },
    attempts: { type: 'integer' },
    status: {
      type: ['integer', 'null'],
      description: 'The HTTP status of the last response, or the reply code of the mail server',
    },
    response: { ...textOrNull, description: 'The beginning of the last response, as one line' },
    error: { ...textOrNull, description: 'Why the last attempt failed' },
    created_at: { type: 'string', format: 'date-time' },
    next_attempt_at: timeOrNull,
    finished_at: timeOrNull,
  },
  { title: 'AlertDelivery', description: 'One message to one alert, or to a pull request' },
)

const alertIdExample = 'alr_7Kq2mPa9Qw4Rt6Yu8Io1Zx3C'

const deliveryIdExample = 'msg_9Pa3Sd6Fg0Hj4Kl8Zx2Cv5Bn'

const deliveryExample = {
  id: deliveryIdExample,
  destination: 'alert',
  alert: { id: alertIdExample, name: 'Support team', channel: 'webhook' },
  event: 'regression.opened',
  prompts: [{ id: promptIdExample, name: 'Support answers', regression_id: 5 }],
  state: 'sent',
  attempts: 1,
  status: 204,
  response: '',
  error: null,
  created_at: '2026-11-15T03:20:00.000Z',
  next_attempt_at: null,
  finished_at: '2026-11-15T03:20:01.000Z',
} as const

const alertDeliveryPageSchema = list(deliverySchema, 'One page of deliveries, newest first', [deliveryExample])

const oneAlertDeliverySchema = one(deliverySchema, 'The delivery is queued again', {
  ...deliveryExample,
  state: 'pending',
  attempts: 0,
  status: null,
  response: null,
  next_attempt_at: '2026-11-15T12:00:00.000Z',
  finished_at: null,
})

const alertDeliveryParamsSchema = {
  message_id: { type: 'string', description: 'The ID of the delivery', examples: [deliveryIdExample] },
} as const

export type AlertDeliveryBody = FromSchema<typeof deliverySchema>

const target = {
  type: 'string',
  minLength: 1,
  maxLength: 2_000,
  description:
    'Where messages go: the URL of a webhook, of a Slack incoming webhook, of a Teams workflow or of a Discord webhook, email addresses separated by commas, the ' +
    'routing key of PagerDuty, or the key of a team in Linear, a colon and an API key (`ENG:lin_api_…`). Stored encrypted, and never returned',
} as const

const slackToken = {
  type: ['string', 'null'],
  maxLength: 300,
  description:
    'Of the channel `slack`: a bot token of the workspace with the scope `users:read.email`, to mention the owner. Stored encrypted, and never returned. Null for none',
} as const

const secret = {
  type: ['string', 'null'],
  description:
    'Signs the requests of the channels `webhook` and `cloudevents`, as defined by Standard Webhooks. Shown only once; null for ' +
    'other channels',
} as const

const maxHoldMinutes = ruleLimits.holdMs / minute

const maxRepeatHours = ruleLimits.repeatMs.max / hour

const rules = {
  name: { type: 'string', description: 'A label that identifies the alert' },
  prompts: {
    type: 'string',
    description:
      'A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of ' +
      'folders. Limits and repositories concern the whole organisation, so the glob does not apply to them',
  },
  events: {
    type: 'array',
    items: { enum: alertEvents },
    description:
      'What to tell. At least one, except with `signals`. By default all but `digest.weekly`. Linear only has those about regressions',
  },
  hold_minutes: {
    type: 'integer',
    minimum: 0,
    maximum: maxHoldMinutes,
    description: 'How long a regression, a shift or a failure has to last before it is told',
  },
  min_signals: {
    type: 'integer',
    minimum: 1,
    maximum: ruleLimits.minSignals,
    description: 'How many signals a change needs before its regression is told',
  },
  recovery_hold_minutes: {
    type: 'integer',
    minimum: 0,
    maximum: maxHoldMinutes,
    description: 'How long a recovery has to last before it is told',
  },
  repeat_hours: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: maxRepeatHours,
    description: 'Tells again after this time while a regression stays open; null to tell once',
  },
  signals: {
    type: 'boolean',
    description:
      'Of the channel `cloudevents`: whether it also gets every signal of these prompts that is recorded, replaced, withdrawn or erased, in ' +
      'batches. One alert of an organisation may',
  },
} as const

const { name, ...conditions } = rules

const fields = {
  id: { type: 'string', description: 'Starts with alr_' },
  name,
  channel: { enum: channels },
  target_hint: {
    type: 'string',
    description: 'What of the target can be shown: the host of a URL, the addresses, the end of a routing key',
  },
  has_slack_token: { type: 'boolean', description: 'Whether a bot token is set, with which the owner is mentioned' },
  ...conditions,
  state: {
    enum: alertStates,
    description:
      '`disabled` by an administrator, because the receiver responded with 410, or because it took no signals for three days or fell behind by ' +
      `${maxWaitingSignals} of them`,
  },
  disabled_at: timeOrNull,
  disabled_reason: { type: ['string', 'null'], description: 'Why it is disabled' },
  old_secret_until: {
    ...timeOrNull,
    description: 'Until when requests are also signed with the previous secret; null without a rotation',
  },
  created_at: time,
} as const

const lastDelivery = {
  anyOf: [deliverySchema, { type: 'null' }],
  description: 'The newest delivery; null if nothing was sent yet',
} as const

const alertSchema = object(
  { ...fields, last_delivery: lastDelivery },
  { title: 'Alert', description: 'Where people are told about regressions' },
)

const addedAlert = object(
  { ...alertSchema.properties, secret },
  { title: 'AddedAlert', description: 'A new alert, with its signing secret' },
)

const rulesExample = {
  prompts: 'prompts/support/**',
  events: ['regression.opened', 'regression.repaired', 'regression.withdrawn'],
  hold_minutes: 15,
  min_signals: 50,
  recovery_hold_minutes: 15,
  repeat_hours: null,
  signals: false,
} as const

const alertExample = {
  id: alertIdExample,
  name: 'Support team',
  channel: 'webhook',
  target_hint: 'hooks.acme.example',
  has_slack_token: false,
  ...rulesExample,
  state: 'active',
  disabled_at: null,
  disabled_reason: null,
  old_secret_until: null,
  created_at: '2026-11-15T12:00:00.000Z',
  last_delivery: deliveryExample,
} as const

const secretExample = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

const oneAlertSchema = one(alertSchema, 'The alert', alertExample)

const addedAlertSchema = one(addedAlert, 'The alert is added', {
  ...alertExample,
  last_delivery: null,
  secret: secretExample,
})

const alertPageSchema = list(alertSchema, 'One page of alerts, in the order in which they were added', [alertExample])

const newAlertSchema = {
  title: 'NewAlert',
  description: `An alert to add. An organisation has at most ${maxAlerts}`,
  type: 'object',
  required: ['name', 'channel', 'target'],
  properties: {
    name: rules.name,
    channel: fields.channel,
    target,
    slack_token: slackToken,
    prompts: { ...rules.prompts, default: '**' },
    events: { ...rules.events, default: defaultEvents },
    hold_minutes: { ...rules.hold_minutes, default: 15 },
    min_signals: { ...rules.min_signals, default: 50 },
    recovery_hold_minutes: { ...rules.recovery_hold_minutes, default: 15 },
    repeat_hours: { ...rules.repeat_hours, default: null },
    signals: { ...rules.signals, default: false },
  },
  examples: [
    { name: 'Support team', channel: 'webhook', target: 'https://hooks.acme.example/promptledger', ...rulesExample },
  ],
} as const

const alertUpdateSchema = {
  title: 'AlertUpdate',
  description: 'What to change; everything else stays',
  type: 'object',
  properties: {
    ...rules,
    target,
    slack_token: slackToken,
    state: { enum: alertStates, description: 'Disables the alert, or enables it again' },
  },
  examples: [{ hold_minutes: 60, state: 'active' }],
} as const

const rotatedSecret = object(
  {
    secret: { type: 'string', description: 'Shown only once' },
    old_secret_until: { ...time, description: 'Until when requests are also signed with the old secret' },
  },
  { title: 'RotatedAlertSecret' },
)

const rotatedAlertSecretSchema = one(rotatedSecret, 'The new secret', {
  secret: secretExample,
  old_secret_until: '2026-11-16T12:00:00.000Z',
})

const testedAlert = object(
  {
    id: { type: 'string', description: 'The ID of the message. Starts with msg_' },
    sent: { type: 'boolean', description: 'Whether the receiver accepted it' },
    status: { type: ['integer', 'null'], description: 'The HTTP status, or the reply code of the mail server' },
    response: { type: ['string', 'null'], description: 'The beginning of the response, as one line' },
    error: { type: ['string', 'null'], description: 'What is wrong and what to do; null if it was sent' },
    milliseconds: { type: 'integer', description: 'How long it took' },
  },
  { title: 'TestedAlert', description: 'How sending a test message ended' },
)

const testedAlertSchema = one(testedAlert, 'The attempt. It is not retried, and not part of the deliveries', {
  id: 'msg_2Yt5mQw8Er1Ui4Op7As0Df3G',
  sent: true,
  status: 204,
  response: '',
  error: null,
  milliseconds: 182,
})

/** The response to more test messages than an organisation may send. */
const testLimitSchema = limitedSchema(
  'TestLimited',
  'How many test messages an organisation may send, per minute, per day or at the same time',
  'How many it has sent, in the last minute, in the last day or at this moment',
  'When the next one may be sent',
)

const alertParamsSchema = {
  alert_id: { type: 'string', description: 'The ID of the alert', examples: [alertIdExample] },
} as const

export type AlertBody = FromSchema<typeof alertSchema>

export type AddedAlertBody = FromSchema<typeof addedAlert>

export type NewAlertBody = FromSchema<typeof newAlertSchema>

export type AlertUpdateBody = FromSchema<typeof alertUpdateSchema>

export type RotatedAlertSecretBody = FromSchema<typeof rotatedSecret>

export type TestedAlertBody = FromSchema<typeof testedAlert>

const testLimitExample = JSON.parse(errorBody(testLimitError(10, 10, Date.UTC(2026, 10, 15, 12, 1))))

export const operations = defineOperations('Alerts', {
  listAlertDeliveries: {
    method: 'GET',
    path: '/api/v1/alerts/deliveries',
    client: 'alerts.deliveries',
    summary: 'List the deliveries of all alerts',
    description:
      'What was sent, what is waiting and what failed, of the last 90 days, newest first. Includes comments on pull ' +
      'requests, and deliveries of alerts that were removed.',
    roles: ['admin'],
    query: pageQuerySchema,
    response: { 200: alertDeliveryPageSchema },
  },

  listDeliveriesOfAlert: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id/deliveries',
    client: 'alerts.deliveriesOf',
    summary: 'List the deliveries of an alert',
    description: 'Newest first.',
    roles: ['admin'],
    params: alertParamsSchema,
    query: pageQuerySchema,
    response: { 200: alertDeliveryPageSchema },
  },

  retryAlertDelivery: {
    method: 'POST',
    path: '/api/v1/alerts/deliveries/:message_id/retry',
    client: 'alerts.retry',
    summary: 'Retry a failed delivery',
    description: 'Sends it again at once, with the same ID, and retries for another 3 days.',
    roles: ['admin'],
    params: alertDeliveryParamsSchema,
    response: {
      202: oneAlertDeliverySchema,
      409: conflictSchema('Only a delivery that failed can be sent again.'),
    },
  },

  listAlerts: {
    method: 'GET',
    path: '/api/v1/alerts',
    client: 'alerts.list',
    summary: 'List alerts',
    description: 'In the order in which they were added.',
    roles: ['admin'],
    query: pageQuerySchema,
    response: { 200: alertPageSchema },
  },

  addAlert: {
    method: 'POST',
    path: '/api/v1/alerts',
    client: 'alerts.add',
    summary: 'Add an alert',
    description:
      'Its channel is then told about regressions of the matching prompts, and about what else `events` lists. The ' +
      'response of a webhook contains the signing secret, which is shown only once.',
    roles: ['admin'],
    body: newAlertSchema,
    response: {
      201: addedAlertSchema,
      409: conflictSchema(tooManyAlerts().message),
      422: invalidSchema('name is required'),
    },
  },

  getAlert: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id',
    client: 'alerts.get',
    summary: 'Get an alert',
    roles: ['admin'],
    params: alertParamsSchema,
    response: { 200: oneAlertSchema },
  },

  updateAlert: {
    method: 'PATCH',
    path: '/api/v1/alerts/:alert_id',
    client: 'alerts.update',
    summary: 'Change an alert',
    description:
      'Everything but the channel can be changed. With `state`, an alert is disabled, or enabled again after its ' +
      'receiver responded with 410.',
    roles: ['admin'],
    params: alertParamsSchema,
    body: alertUpdateSchema,
    response: { 200: oneAlertSchema, 422: invalidSchema('hold_minutes must be >= 0') },
  },

  removeAlert: {
    method: 'DELETE',
    path: '/api/v1/alerts/:alert_id',
    client: 'alerts.remove',
    summary: 'Remove an alert',
    description: 'What is waiting to be sent to it is cancelled.',
    roles: ['admin'],
    params: alertParamsSchema,
    response: { 204: { type: 'null', description: 'The alert is removed' } },
  },

  testAlert: {
    method: 'POST',
    path: '/api/v1/alerts/:alert_id/test',
    client: 'alerts.test',
    // The receiver has 10 s to respond.
    timeoutMs: 30_000,
    summary: 'Send a test message',
    description:
      'Sends at once, also to a disabled alert, and responds with what the receiver answered. An organisation may send ' +
      '10 a minute, and 2 at the same time.',
    roles: ['admin'],
    params: alertParamsSchema,
    response: { 200: testedAlertSchema, 429: { ...testLimitSchema, examples: [testLimitExample] } },
  },

  rotateAlertSecret: {
    method: 'POST',
    path: '/api/v1/alerts/:alert_id/rotate-secret',
    client: 'alerts.rotateSecret',
    summary: 'Rotate the signing secret',
    description:
      'For webhooks. During the overlap, 24 hours by default, requests carry the signatures of both secrets, so that ' +
      'the receiver can change at any time.',
    roles: ['admin'],
    params: alertParamsSchema,
    body: overlapSchema('secret'),
    response: {
      200: rotatedAlertSecretSchema,
      409: conflictSchema('Only webhooks have a signing secret.'),
      422: invalidSchema('overlap_hours must be >= 0'),
    },
  },
})
