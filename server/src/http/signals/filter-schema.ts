import { changeSides } from '../../domain/impact/change-signals.ts'
import { signalValues } from '../../domain/signals/signal.ts'
import { pageQuerySchema } from '../page-schema.ts'

const since = {
  type: 'string',
  format: 'date-time',
  description: 'From this time, inclusive',
  examples: ['2026-11-01T00:00:00.000Z'],
} as const
const until = {
  type: 'string',
  format: 'date-time',
  description: 'Until this time, exclusive',
  examples: ['2026-12-01T00:00:00.000Z'],
} as const

export const signalFilterSchema = {
  type: 'object',
  properties: {
    value: { enum: signalValues, description: 'Only signals with this value' },
    since,
    until,
    version: {
      type: 'string',
      description:
        'Only signals with this version. A commit SHA also finds signals that name the same commit in full or abbreviated, unless ' +
        'several commits start alike. `#123` for the history entry and `:v2` for the label where that could be a commit SHA',
    },
    comment: { enum: ['any'], description: 'Only signals with a comment' },
    q: { type: 'string', maxLength: 200, description: 'Part of the comment, ignoring case' },
    change: {
      type: 'string',
      description: 'Only signals that the impact of this change counts, by the ID of its history entry. Needs `side`',
    },
    side: {
      enum: changeSides,
      description:
        'Which signals of `change`: those that count for it (`after`), or for the change that was live before it (`before`)',
    },
  },
} as const

export const signalQuerySchema = {
  type: 'object',
  properties: {
    ...signalFilterSchema.properties,
    cursor: { type: 'string', description: 'Continues a search: `search.cursor` of the previous response' },
    ...pageQuerySchema.properties,
  },
} as const
