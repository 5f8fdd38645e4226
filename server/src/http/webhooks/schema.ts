import { invalidSignature } from '../../domain/repositories/webhook-request.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'

export const receiveDeliverySchema = {
  operationId: 'receiveDelivery',
  summary: 'Receive a webhook delivery',
  description:
    'For forges. Accepts pushes and pull requests in the format of the forge, up to 25 MB, authenticated by a signature ' +
    'over the body with the webhook secret instead of a key. The delivery is stored before the response and processed ' +
    'afterwards.',
  tags: ['Repositories'],
  security: ['github', 'gitlab', 'gitlab_signed', 'gitea', 'forgejo', 'bitbucket'],
  params: {
    type: 'object',
    required: ['hook_id'],
    properties: {
      hook_id: {
        type: 'string',
        description: 'The last part of `webhook_url`',
        examples: ['Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv'],
      },
    },
  },
  body: { type: 'object', description: "The forge's payload", examples: [{ zen: 'Design for failure.' }] },
  response: {
    202: {
      type: 'object',
      required: ['data'],
      properties: {
        data: {
          type: 'object',
          required: ['status'],
          properties: { status: { const: 'accepted' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
      description: 'The delivery is stored',
      examples: [{ data: { status: 'accepted' } }],
    },
    401: errorSchema('unauthorized', invalidSignature().message),
    404: errorBodySchema,
    422: errorSchema('validation_error', 'The body is not valid UTF-8'),
    500: errorBodySchema,
  },
}
