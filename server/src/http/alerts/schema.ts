import type { FromSchema } from 'json-schema-to-ts'
import { channels, maxAlerts } from '../../domain/alerts/alert.ts'
import { alertStates } from '../../domain/alerts/alert-service.ts'
import { alertEvents } from '../../domain/alerts/event.ts'
import { ruleLimits } from '../../domain/alerts/rules.ts'
import { hour, minute } from '../../domain/time.ts'
import { limitedSchema } from '../error-schema.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { alertIdExample, deliveryExample, deliverySchema } from './delivery-schema.ts'

const time = { type: 'string', format: 'date-time' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const target = {
  type: 'string',
  minLength: 1,
  maxLength: 2_000,
  description:
    'Where messages go: the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or the ' +
    'routing key of PagerDuty. Stored encrypted, and never returned',
} as const

const secret = {
  type: ['string', 'null'],
  description:
    'Signs the requests of a webhook, as defined by Standard Webhooks. Shown only once; null for other channels',
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
  events: { type: 'array', items: { enum: alertEvents }, description: 'What to tell. At least one' },
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
} as const

const fields = {
  id: { type: 'string', description: 'Starts with alr_' },
  name: rules.name,
  channel: { enum: channels },
  target_hint: {
    type: 'string',
    description: 'What of the target can be shown: the host of a URL, the addresses, the end of a routing key',
  },
  prompts: rules.prompts,
  events: { ...rules.events },
  hold_minutes: rules.hold_minutes,
  min_signals: rules.min_signals,
  recovery_hold_minutes: rules.recovery_hold_minutes,
  repeat_hours: rules.repeat_hours,
  state: {
    enum: alertStates,
    description: '`disabled` by an administrator, or because the receiver responded with 410',
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

const alertSchema = {
  title: 'Alert',
  description: 'Where people are told about regressions',
  type: 'object',
  required: [...(Object.keys(fields) as (keyof typeof fields)[]), 'last_delivery'],
  properties: { ...fields, last_delivery: lastDelivery },
  additionalProperties: false,
} as const

const addedAlert = {
  title: 'AddedAlert',
  description: 'A new alert, with its signing secret',
  type: 'object',
  required: [...alertSchema.required, 'secret'],
  properties: { ...alertSchema.properties, secret },
  additionalProperties: false,
} as const

const rulesExample = {
  prompts: 'prompts/support/**',
  events: ['regression.opened', 'regression.repaired', 'regression.withdrawn'],
  hold_minutes: 15,
  min_signals: 50,
  recovery_hold_minutes: 15,
  repeat_hours: null,
} as const

const alertExample = {
  id: alertIdExample,
  name: 'Support team',
  channel: 'webhook',
  target_hint: 'hooks.acme.example',
  ...rulesExample,
  state: 'active',
  disabled_at: null,
  disabled_reason: null,
  old_secret_until: null,
  created_at: '2026-11-15T12:00:00.000Z',
  last_delivery: deliveryExample,
} as const

const secretExample = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

export const oneAlertSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: alertSchema },
  additionalProperties: false,
  description: 'The alert',
  examples: [{ data: alertExample }],
} as const

export const addedAlertSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: addedAlert },
  additionalProperties: false,
  description: 'The alert is added',
  examples: [{ data: { ...alertExample, last_delivery: null, secret: secretExample } }],
} as const

export const alertPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: alertSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of alerts, in the order in which they were added',
  examples: [{ data: [alertExample], pagination: paginationExample(1) }],
} as const

export const newAlertSchema = {
  title: 'NewAlert',
  description: `An alert to add. An organisation has at most ${maxAlerts}`,
  type: 'object',
  required: ['name', 'channel', 'target'],
  properties: {
    name: rules.name,
    channel: fields.channel,
    target,
    prompts: { ...rules.prompts, default: '**' },
    events: { ...rules.events, default: alertEvents },
    hold_minutes: { ...rules.hold_minutes, default: 15 },
    min_signals: { ...rules.min_signals, default: 50 },
    recovery_hold_minutes: { ...rules.recovery_hold_minutes, default: 15 },
    repeat_hours: { ...rules.repeat_hours, default: null },
  },
  examples: [
    { name: 'Support team', channel: 'webhook', target: 'https://hooks.acme.example/promptledger', ...rulesExample },
  ],
} as const

export const alertUpdateSchema = {
  title: 'AlertUpdate',
  description: 'What to change; everything else stays',
  type: 'object',
  properties: {
    ...rules,
    target,
    state: { enum: alertStates, description: 'Disables the alert, or enables it again' },
  },
  examples: [{ hold_minutes: 60, state: 'active' }],
} as const

const rotatedSecret = {
  title: 'RotatedAlertSecret',
  type: 'object',
  required: ['secret', 'old_secret_until'],
  properties: {
    secret: { type: 'string', description: 'Shown only once' },
    old_secret_until: { ...time, description: 'Until when requests are also signed with the old secret' },
  },
  additionalProperties: false,
} as const

export const rotatedAlertSecretSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: rotatedSecret },
  additionalProperties: false,
  description: 'The new secret',
  examples: [{ data: { secret: secretExample, old_secret_until: '2026-11-16T12:00:00.000Z' } }],
} as const

const testedAlert = {
  title: 'TestedAlert',
  description: 'How sending a test message ended',
  type: 'object',
  required: ['id', 'sent', 'status', 'response', 'error', 'milliseconds'],
  properties: {
    id: { type: 'string', description: 'The ID of the message. Starts with msg_' },
    sent: { type: 'boolean', description: 'Whether the receiver accepted it' },
    status: { type: ['integer', 'null'], description: 'The HTTP status, or the reply code of the mail server' },
    response: { type: ['string', 'null'], description: 'The beginning of the response, as one line' },
    error: { type: ['string', 'null'], description: 'What is wrong and what to do; null if it was sent' },
    milliseconds: { type: 'integer', description: 'How long it took' },
  },
  additionalProperties: false,
} as const

export const testedAlertSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: testedAlert },
  additionalProperties: false,
  description: 'The attempt. It is not retried, and not part of the deliveries',
  examples: [
    {
      data: {
        id: 'msg_2Yt5mQw8Er1Ui4Op7As0Df3G',
        sent: true,
        status: 204,
        response: '',
        error: null,
        milliseconds: 182,
      },
    },
  ],
} as const

/** The response to more test messages than an organisation may send. */
export const testLimitSchema = limitedSchema(
  'TestLimited',
  'How many test messages an organisation may send, per minute, per day or at the same time',
  'How many it has sent, in the last minute, in the last day or at this moment',
  'When the next one may be sent',
)

export const alertParamsSchema = {
  type: 'object',
  required: ['alert_id'],
  properties: { alert_id: { type: 'string', description: 'The ID of the alert', examples: [alertIdExample] } },
} as const

export type AlertBody = FromSchema<typeof alertSchema>
export type AddedAlertBody = FromSchema<typeof addedAlert>
export type NewAlertBody = FromSchema<typeof newAlertSchema>
export type AlertUpdateBody = FromSchema<typeof alertUpdateSchema>
export type RotatedAlertSecretBody = FromSchema<typeof rotatedSecret>
export type TestedAlertBody = FromSchema<typeof testedAlert>
