import { liveSources } from '../../domain/impact/live-window.ts'
import { entryDetailsSchema, historyEntryExample, historyEntrySchema, textOrNull, textStateSchema } from './schema.ts'

const liveEnvironmentSchema = {
  title: 'LiveEnvironment',
  description: 'The versions of a prompt that run in an environment',
  type: 'object',
  required: ['environment', 'production', 'since', 'versions'],
  properties: {
    environment: { type: 'string' },
    production: { type: 'boolean', description: 'Whether it decides what is live' },
    since: { type: 'string', format: 'date-time', description: 'Its last deployment that changed something' },
    versions: {
      type: 'array',
      description: 'The largest share first. Empty if its deployment ended',
      items: {
        type: 'object',
        required: ['entry', 'commit_sha', 'share'],
        properties: {
          entry: {
            anyOf: [historyEntrySchema, { type: 'null' }],
            description: 'Null if it is not known, or not yet, which version the commit has',
          },
          commit_sha: {
            ...textOrNull,
            description: 'The deployed commit; null for what was merged before a first canary',
          },
          share: { type: 'number', description: 'The part of the traffic of this environment' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const

export const liveSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: [
        'entry',
        'path',
        'content',
        'content_state',
        'incomplete',
        'live_source',
        'environment',
        'share',
        'also_live',
        'environments',
      ],
      properties: {
        entry: { anyOf: [historyEntrySchema, { type: 'null' }], description: 'The change; null if it is unknown' },
        path: entryDetailsSchema.properties.data.properties.path,
        content: { ...textOrNull, description: "The prompt's text at that time; `content_state` says why it is null" },
        content_state: textStateSchema,
        incomplete: {
          type: 'boolean',
          description: 'Whether the change is unknown because the repository is a shallow clone',
        },
        live_source: {
          enum: [...liveSources, null],
          description: 'Whether a deployment to production or the merge made it live; null if the change is unknown',
        },
        environment: { ...textOrNull, description: 'Where it was deployed to; null for a merge' },
        share: { type: 'number', description: 'The part of the traffic that it served' },
        also_live: {
          type: 'array',
          description: 'Other versions that were live at that time, the largest share first',
          items: {
            type: 'object',
            required: ['entry', 'share', 'environment'],
            properties: {
              entry: historyEntrySchema,
              share: { type: 'number' },
              environment: textOrNull,
            },
            additionalProperties: false,
          },
        },
        environments: {
          type: 'array',
          description:
            'What ran in each environment by its deployments: production first, then the last changed, up to 20. Empty without deployments',
          items: liveEnvironmentSchema,
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The change that was live',
  examples: [
    {
      data: {
        entry: historyEntryExample,
        path: 'prompts/support.md',
        content: 'You answer customers in their language.\n',
        content_state: 'available',
        incomplete: false,
        live_source: 'merge',
        environment: null,
        share: 1,
        also_live: [],
        environments: [],
      },
    },
  ],
} as const

export const liveQuerySchema = {
  type: 'object',
  properties: {
    at: {
      type: 'string',
      format: 'date-time',
      description: 'Defaults to now',
      examples: ['2026-11-15T09:30:00.000Z'],
    },
  },
} as const
