import { type Adapter, commonValues } from './adapter.ts'

/** Ratings of conversations, from 1 to 5. */
export const intercom: Adapter = {
  name: 'intercom',
  authentication: { kind: 'hmac', algorithm: 'sha1', encoding: 'hex', header: 'x-hub-signature', prefix: 'sha1=' },
  // A ping when the webhook is saved, and other topics that the app subscribes to.
  only: { at: '$.topic', in: ['conversation.rating.added'] },
  fields: {
    value: '$.data.item.conversation_rating.rating',
    comment: '$.data.item.conversation_rating.remark',
    subject: '$.data.item.id',
    voter: {
      any: ['$.data.item.conversation_rating.contact.id', '$.data.item.conversation_rating.customer.id'],
    },
    time: { any: ['$.data.item.conversation_rating.updated_at', '$.created_at'] },
    id: '$.id',
  },
  values: commonValues,
  midpoint: 3,
}
