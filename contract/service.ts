import { invalidSignature } from '../server/src/domain/repositories/delivery.ts'
import { defineOperations } from './operation.ts'
import { errorBodySchema, errorSchema, invalidSchema, malformedRequestSchema, object, one } from './schema.ts'

export const notWritable = 'The database does not accept writes.'

function statusSchema(status: string) {
  return object({ status: { const: status } }, { examples: [{ status }] })
}

export const operations = defineOperations('Service', {
  receiveDelivery: {
    method: 'POST',
    path: '/webhooks/:hook_id',
    tag: 'Repositories',
    summary: 'Receive a webhook delivery',
    description:
      'For forges. Accepts pushes and pull requests in the format of the forge, up to 25 MB, authenticated by a signature ' +
      'over the body with the webhook secret instead of a key. The delivery is stored before the response and processed ' +
      'afterwards.',
    security: ['github', 'gitlab', 'gitlab_signed', 'gitea', 'forgejo', 'bitbucket'],
    params: {
      hook_id: {
        type: 'string',
        description: 'The last part of `webhook_url`',
        examples: ['Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv'],
      },
    },
    body: { type: 'object', description: "The forge's payload", examples: [{ zen: 'Design for failure.' }] },
    response: {
      202: one(object({ status: { const: 'accepted' } }), 'The delivery is stored', { status: 'accepted' }),
      401: errorSchema('unauthorized', invalidSignature().message),
      404: errorBodySchema,
      422: invalidSchema('The body is not valid UTF-8'),
      500: errorBodySchema,
    },
  },

  getHealth: {
    method: 'GET',
    path: '/healthz',
    summary: 'Check that the process is running',
    response: { 200: statusSchema('ok'), 422: malformedRequestSchema },
  },

  getReadiness: {
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the database accepts writes',
    response: {
      200: statusSchema('ready'),
      422: malformedRequestSchema,
      503: errorSchema('internal_error', notWritable),
    },
  },

  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'Get the OpenAPI document',
    response: { 200: { type: 'object', description: 'An OpenAPI 3.1 document' }, 422: malformedRequestSchema },
  },

  getReference: {
    method: 'GET',
    path: '/docs',
    summary: 'Get the API reference',
    response: {
      200: {
        description: 'The API reference as an HTML page',
        content: { 'text/html': { schema: { type: 'string' } } },
      },
      422: malformedRequestSchema,
    },
  },
})
