import type { FromSchema } from 'json-schema-to-ts'
import { deliveryRoles } from '../server/src/domain/access/api-key.ts'
import { deliveryIsOff, maxUndelivered } from '../server/src/domain/delivery/settings.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { conflictSchema, invalidSchema, object, one } from './schema.ts'

const sha = '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a'
const trialId = 'trl_7Kd2mXqLr5Tz1NvB8cWf3HyJ'

const version = { type: 'string', description: 'The commit that brought the text, for `version` of a signal' } as const
const text = { type: 'string', description: 'The text of the file in this version, as it is in git' } as const

const deliveredTrialSchema = object(
  {
    id: { type: 'string', description: 'The public ID (prefix trl_)' },
    share: { type: 'number', description: 'The part of the units that gets the candidate, from 0 to 1' },
    version: { ...version, description: "The candidate's commit, for `version` of a signal" },
    text: { ...text, description: "The candidate's text" },
  },
  { title: 'DeliveredTrial', description: 'A trial that runs on the prompt' },
)

const deliveredPromptSchema = object(
  {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name: { type: 'string' },
    path: { type: 'string', description: "The path of the prompt's file in its repository" },
    version,
    text,
    trial: { anyOf: [deliveredTrialSchema, { type: 'null' }], description: 'The running trial; null without one' },
  },
  { title: 'DeliveredPrompt', description: 'The live text of a prompt' },
)

const deliveredExample = {
  id: promptIdExample,
  name: 'support/refund-reply',
  path: 'prompts/support/refund-reply.md',
  version: sha,
  text: 'Answer politely.\n',
  trial: { id: trialId, share: 0.1, version: `${sha.slice(1)}0`, text: 'Answer politely and briefly.\n' },
}

const documentSchema = object(
  {
    refresh_seconds: { type: 'integer', description: 'How often to ask again' },
    prompts: { type: 'array', items: deliveredPromptSchema, description: 'By name' },
  },
  { title: 'DeliveryDocument', description: 'The live texts of all prompts that the key may read' },
)

const chosenTextSchema = object(
  {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name: { type: 'string' },
    version,
    text,
    trial: {
      anyOf: [
        object({
          id: { type: 'string', description: 'The public ID (prefix trl_)' },
          arm: { enum: ['control', 'candidate'] },
        }),
        { type: 'null' },
      ],
      description: 'The trial that chose the text; null without one, and without `unit`',
    },
  },
  { title: 'ChosenText', description: 'The text for one unit' },
)

const settings = {
  enabled: { type: 'boolean', description: 'Whether applications can fetch texts. Off by default' },
  excluded: {
    type: 'array',
    items: { type: 'string' },
    maxItems: maxUndelivered,
    description: 'Globs: prompts whose name or path matches one are never delivered',
  },
} as const

const settingsSchema = object(settings, {
  title: 'DeliverySettings',
  description: 'Whether texts are delivered, and which are not',
})

const settingsResponse = one(settingsSchema, 'The settings', { enabled: true, excluded: ['internal/**'] })

const newDeliverySettingsSchema = {
  title: 'NewDeliverySettings',
  description: 'The settings to change',
  type: 'object',
  properties: settings,
  examples: [{ enabled: true, excluded: ['internal/**'] }],
} as const

export type DeliveredPromptBody = FromSchema<typeof deliveredPromptSchema>

export type ChosenTextBody = FromSchema<typeof chosenTextSchema>

export type NewDeliverySettingsBody = FromSchema<typeof newDeliverySettingsSchema>

export const maxUnitLength = 200

const isOff = conflictSchema(deliveryIsOff().message)

export const operations = defineOperations('Text delivery', {
  getDelivery: {
    method: 'GET',
    path: '/api/v1/delivery',
    client: 'texts.document',
    summary: 'Get the live texts of all prompts',
    description:
      'One document for an application, which keeps it, asks again with `If-None-Match` every `refresh_seconds`, and chooses the ' +
      'text for each unit itself: docs/delivery.md says how. A prompt without a text in git, or with one of more than 256 KiB, is not part of it. ' +
      'A document of more than 8 MiB is not delivered: `prompts` limits it.',
    roles: deliveryRoles,
    light: true,
    query: {
      prompts: {
        type: 'string',
        maxLength: 200,
        examples: ['**'],
        description: 'A glob: only prompts whose name or path matches',
      },
    },
    response: {
      200: one(documentSchema, 'The document, with an `ETag`, compressed if the request allows it', {
        refresh_seconds: 15,
        prompts: [deliveredExample],
      }),
      304: { type: 'null', description: 'The document that the application has is current' },
      409: isOff,
      422: invalidSchema('prompts must have at most 10 wildcards'),
    },
  },

  getPromptText: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/text',
    client: 'texts.get',
    summary: 'Get the text of a prompt for a unit',
    description:
      'For applications without one of our clients: the same choice as they make, by the service. A request with a `unit` during a ' +
      'trial counts as an exposure. 404 says why there is no text: the prompt is unknown or excluded, its live version deleted the file, is larger than 256 KiB or no ' +
      'text, or its repository has not been read yet.',
    roles: deliveryRoles,
    light: true,
    params: promptParamsSchema,
    query: {
      unit: {
        type: 'string',
        minLength: 1,
        maxLength: maxUnitLength,
        examples: ['user-4711'],
        description: 'The user or conversation that the text is for. Without it, the live text',
      },
    },
    response: {
      200: one(chosenTextSchema, 'The text', {
        id: promptIdExample,
        name: 'support/refund-reply',
        version: sha,
        text: 'Answer politely.\n',
        trial: { id: trialId, arm: 'control' },
      }),
      409: isOff,
      422: invalidSchema(`unit must be 1 to ${maxUnitLength} characters long`),
    },
  },

  getDeliverySettings: {
    method: 'GET',
    path: '/api/v1/delivery/settings',
    client: 'texts.settings',
    summary: 'Get the settings of text delivery',
    roles: ['admin'],
    response: { 200: settingsResponse },
  },

  updateDeliverySettings: {
    method: 'PATCH',
    path: '/api/v1/delivery/settings',
    client: 'texts.updateSettings',
    needsBody: true,
    summary: 'Change the settings of text delivery',
    description:
      'A field that is left out stays as it is. Turning delivery on stores the live texts within a few seconds.',
    roles: ['admin'],
    body: newDeliverySettingsSchema,
    response: { 200: settingsResponse, 422: invalidSchema('excluded must have at most 10 wildcards') },
  },
})
