import { verdicts } from '../../domain/impact/verdict.ts'
import { tally } from '../signals/tally-schema.ts'

const ratedTally = {
  type: 'object',
  required: ['positive', 'negative', 'rate'],
  properties: {
    ...tally,
    rate: { type: ['number', 'null'], description: 'Share of positive signals; null without signals' },
  },
  additionalProperties: false,
} as const

/** What is said of a change as a whole, and of each of its segments. */
export const effectParts = {
  before: { ...ratedTally, description: 'Signals of the previous change' },
  after: { ...ratedTally, description: 'Signals of this change' },
  effective_signals: {
    type: 'integer',
    description:
      'How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders, or ' +
      'if voters vote often',
  },
  difference: { type: ['number', 'null'], description: 'The rate after minus the rate before' },
  interval: {
    type: ['array', 'null'],
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
    description: '95% confidence range of the true difference, which allows for votes that wander without any change',
  },
  verdict: {
    enum: verdicts,
    description:
      '`unexplained`: the rates differ, but this change does not explain it better than votes that wander, or than another moment',
  },
  explanation: { type: 'string', description: 'What the verdict rests on, in plain words' },
} as const
