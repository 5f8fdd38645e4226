export const tally = {
  positive: { type: 'integer' },
  negative: { type: 'integer' },
} as const

export const intervalTally = {
  type: 'object',
  required: ['start', 'positive', 'negative'],
  properties: { start: { type: 'string', format: 'date-time' }, ...tally },
  additionalProperties: false,
} as const
