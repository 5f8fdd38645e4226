import { type Adapter, commonValues } from './adapter.ts'
import { webhook } from './webhook.ts'

/** Messages with their feedback, from the export of a conversation or the collection `messages`: an array, or `messages` of it. */
export const librechat: Adapter = {
  name: 'librechat',
  authentication: webhook.authentication,
  isMixed: true,
  fields: {
    events: '$.messages',
    prompt: '$.model',
    value: '$.feedback.rating',
    comment: { any: ['$.feedback.text', '$.feedback.tag.key', '$.feedback.tag'] },
    subject: '$.messageId',
    voter: '$.user',
    time: { any: ['$.updatedAt', '$.createdAt'] },
  },
  values: commonValues,
}
