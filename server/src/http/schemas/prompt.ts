import Type from 'typebox'

export const PromptParams = Type.Object({
  prompt_id: Type.String({ description: "The prompt's public ID (prefix pmt_)" }),
})
