import { type Adapter, commonValues } from './adapter.ts'
import { webhook } from './webhook.ts'

/** The export of feedbacks (Admin Panel, Evaluations): an array. It has no webhook for them, so a script posts the file. */
export const openWebui: Adapter = {
  name: 'open-webui',
  authentication: webhook.authentication,
  only: { at: '$.type', in: ['rating'] },
  // A feedback without a rating is a draft.
  isMixed: true,
  fields: {
    prompt: '$.data.model_id',
    value: '$.data.rating',
    comment: { any: ['$.data.comment', '$.data.reason'] },
    subject: { any: [{ all: ['$.meta.chat_id', '$.meta.message_id'] }, '$.id'] },
    voter: '$.user_id',
    time: { any: ['$.updated_at', '$.created_at'] },
  },
  values: commonValues,
}
