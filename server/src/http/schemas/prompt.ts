export const promptParamsSchema = {
  type: 'object',
  required: ['prompt_id'],
  properties: { prompt_id: { type: 'string', description: "The prompt's public ID (prefix pmt_)" } },
} as const
