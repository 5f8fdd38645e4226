import { type Adapter, commonValues } from './adapter.ts'

/** A webhook destination with the default body: an event of the application, or the answer to a thumbs survey. */
export const posthog: Adapter = {
  name: 'posthog',
  // It signs nothing, but sends headers that the destination sets.
  authentication: { kind: 'bearer' },
  fields: {
    prompt: { any: ['$.event.properties.prompt', '$.event.properties.$ai_prompt_name'] },
    version: { any: ['$.event.properties.prompt_version', '$.event.properties.$ai_prompt_version'] },
    value: {
      any: ['$.event.properties.value', '$.event.properties.rating', '$.event.properties.$survey_response'],
    },
    subject: { any: ['$.event.properties.subject', '$.event.properties.$ai_trace_id'] },
    voter: '$.event.distinct_id',
    comment: '$.event.properties.comment',
    time: '$.event.timestamp',
    id: '$.event.uuid',
  },
  // A survey with thumbs answers with 1 or 2.
  values: { ...commonValues, '2': 'negative' },
}
