export const promptIdExample = 'pmt_5mVq2Xc8Rj0LwTz7Kb4NyHdA'

export const promptId = {
  type: 'string',
  description: "The prompt's public ID (prefix pmt_)",
  examples: [promptIdExample],
} as const

export const promptParamsSchema = {
  type: 'object',
  required: ['prompt_id'],
  properties: { prompt_id: promptId },
} as const
