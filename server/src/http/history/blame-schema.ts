import { blameStates } from '../../domain/repositories/repository-service.ts'
import { historyEntryExample, historyEntrySchema } from './schema.ts'

const textOrNull = { type: ['string', 'null'] } as const

const rangeSchema = {
  title: 'BlamedLines',
  description: 'Lines of a text that the same change brought',
  type: 'object',
  required: ['start', 'end', 'entry_id', 'commit_sha'],
  properties: {
    start: { type: 'integer', description: 'The first line, from 1' },
    end: { type: 'integer', description: 'The last line' },
    entry_id: {
      type: ['integer', 'null'],
      description:
        'The entry in `entries`. Null if no entry of the prompt has the commit: it is older than the known history, or is from before ' +
        'the file became a prompt',
    },
    commit_sha: { type: 'string', description: 'The commit on the default branch' },
  },
  additionalProperties: false,
} as const

export const blameSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'Blame',
      description: 'The text of a version, and which change brought each of its lines',
      type: 'object',
      required: ['entry', 'path', 'state', 'content', 'lines', 'entries'],
      properties: {
        entry: historyEntrySchema,
        path: { ...textOrNull, description: "Path of the prompt's file at that time" },
        state: {
          enum: blameStates,
          description:
            '`absent`: the change deleted the file. `too_large`: over 1 MiB or 20,000 lines, or git takes too long. `binary`: not a ' +
            'text. `not_landed`: the change is not on the default branch. `unavailable`: git does not have it, or the entry does ' +
            'not come from git',
        },
        content: { ...textOrNull, description: "The prompt's text; null unless `state` is `available`" },
        lines: { type: 'array', items: rangeSchema, description: 'In order, without gaps; empty unless `available`' },
        entries: {
          type: 'array',
          description: 'The changes that brought the lines, newest first',
          items: {
            type: 'object',
            required: ['entry', 'message', 'actor'],
            properties: {
              entry: historyEntrySchema,
              message: { ...textOrNull, description: 'The commit message, up to its first 1,000 characters' },
              actor: { ...textOrNull, description: 'The forge user who pushed or merged it' },
            },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The text with its changes',
  examples: [
    {
      data: {
        entry: historyEntryExample,
        path: 'prompts/support.md',
        state: 'available',
        content: 'You answer customers in their language.\n',
        lines: [{ start: 1, end: 1, entry_id: historyEntryExample.id, commit_sha: historyEntryExample.commit_sha }],
        entries: [
          { entry: historyEntryExample, message: 'Answer in the language of the question (#42)', actor: 'ada' },
        ],
      },
    },
  ],
} as const

export const blameQuerySchema = {
  type: 'object',
  properties: {
    entry: { type: 'integer', description: 'The ID of a history entry. Defaults to the live version' },
  },
} as const
