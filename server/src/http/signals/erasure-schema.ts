export const erasureSchema = {
  title: 'Erasure',
  type: 'object',
  required: ['metadata'],
  properties: {
    metadata: { type: 'object', description: 'What the metadata of signals must have: one member or several' },
  },
  examples: [{ metadata: { user: 'u-123' } }],
} as const

export const erasedSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['erased'],
      properties: { erased: { type: 'integer', description: 'How many signals' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'They are gone',
  examples: [{ data: { erased: 42 } }],
} as const
