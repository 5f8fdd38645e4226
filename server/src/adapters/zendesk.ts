import { type Adapter, commonValues } from './adapter.ts'

/** Satisfaction ratings, which a trigger sends with the body of our documentation. */
export const zendesk: Adapter = {
  name: 'zendesk',
  authentication: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'x-zendesk-webhook-signature',
    prefix: '',
    timestamp: { header: 'x-zendesk-webhook-signature-timestamp', signed: (timestamp) => timestamp },
  },
  fields: {
    prompt: '$.prompt',
    version: '$.version',
    value: '$.rating',
    comment: '$.comment',
    subject: '$.ticket_id',
    voter: '$.requester_id',
  },
  values: commonValues,
}
