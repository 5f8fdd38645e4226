import { STATUS_CODES } from 'node:http'
import { type DocumentedEvent, documentedEvents } from '../../../../contract/events.ts'
import { operations as declared } from '../../../../contract/index.ts'
import type { Operation as DeclaredOperation, ResponseSchema } from '../../../../contract/operation.ts'
import { ambiguousPromptSchema } from '../../../../contract/prompt-id.ts'
import { errorBodySchema, rateLimitedBodySchema, unexpectedBodySchema } from '../../../../contract/schema.ts'
import { DomainError, invalid } from '../../domain/errors.ts'
import { monthlyLimitError } from '../../domain/limit-error.ts'
import { version } from '../../version.ts'
import { errorBody, forbidden, internalError, notFound, unauthorized } from '../errors.ts'
import { introduction, securitySchemes, tags, webhookHeaders } from './descriptions.ts'
import type { Document, Header, Media, Operation, Parameter, Reference, Response, Schema } from './openapi-document.ts'

/** Components that are defined once and referenced. */
interface Shared {
  schemas: Record<string, Schema>
  responses: Record<string, Response>
}

const json = 'application/json'
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Generates the OpenAPI document of the contract. */
export function describeApi(operations: readonly DeclaredOperation[] = declared): Document {
  const shared: Shared = { schemas: {}, responses: {} }
  const paths: Document['paths'] = {}
  // Sorted, so that the document only changes when the API does.
  for (const operation of operations.toSorted(byPathAndMethod)) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationOf(operation, shared) }
  }
  const webhooks = Object.fromEntries(
    documentedEvents.map((documented) => [documented.event, { post: webhookOf(documented, shared) }]),
  )
  const described = [...Object.values(paths), ...Object.values(webhooks)].flatMap((path) => Object.values(path))
  const used = described.flatMap((operation) => operation.tags)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Promptledger',
      version,
      summary: 'See which prompt changes helped or hurt your users',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that served this document' }],
    security: [{ key: [] }, { session: [] }],
    tags: tags.filter(({ name }) => used.includes(name)),
    paths,
    webhooks,
    components: {
      securitySchemes,
      headers: {
        RequestId: { description: 'Identifies this request in the log', schema: { type: 'string' } },
      },
      responses: sorted(shared.responses),
      schemas: sorted(shared.schemas),
    },
  }
}

function sorted<T>(parts: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byPathAndMethod(a: DeclaredOperation, b: DeclaredOperation): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return methods.indexOf(a.method) - methods.indexOf(b.method)
}

function operationOf(operation: DeclaredOperation, shared: Shared): Operation {
  const { id, path, summary, description, tag, roles, body, response } = operation
  const needsKey = isApi(path) && (operation.security?.includes('key') ?? true)
  const security = operation.security?.map((scheme) => ({ [scheme]: [] })) ?? (isApi(path) ? undefined : [])
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    summary,
    description: [description, needsKey ? rolesOf(roles) : undefined].filter(Boolean).join('\n\n'),
    tags: [tag],
    ...(security && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: !mayBeNull(body), content: { [json]: mediaOf(body, shared) } },
    }),
    responses: Object.fromEntries(
      Object.entries({ ...(needsKey && impliedErrors(operation)), ...response }).map(([status, schema]) => [
        status,
        responseOf(status, schema, shared),
      ]),
    ),
  }
}

function isApi(path: string): boolean {
  return path.startsWith('/api/v1/')
}

/** The errors of the checks that every operation with a key has, unless it declares its own for the status. */
function impliedErrors({ method, path, body }: DeclaredOperation): Record<number, ResponseSchema> {
  const needsNoBody = method !== 'GET' && body === undefined
  const invalid = needsNoBody ? unexpectedBodySchema : path.includes(':prompt_id') ? ambiguousPromptSchema : null
  return {
    401: errorBodySchema,
    403: errorBodySchema,
    ...(path.includes(':') && { 404: errorBodySchema }),
    ...(invalid !== null && { 422: invalid }),
    500: errorBodySchema,
  }
}

function webhookOf(documented: DocumentedEvent, shared: Shared): Operation {
  const { name, summary, description, contentType = json, schema } = documented
  return {
    operationId: `on${name}`,
    summary,
    description,
    tags: ['Events'],
    security: [{ webhook_signature: [] }],
    parameters: webhookHeaders,
    requestBody: { required: true, content: { [contentType]: mediaOf(schema, shared) } },
    responses: {
      '2XX': { description: 'The message is received' },
      '4XX': { description: 'It is sent again later, for three days. `410` disables the alert' },
      '5XX': { description: 'It is sent again later, for three days' },
    },
  }
}

function mayBeNull({ type }: Schema): boolean {
  return [type].flat().includes('null')
}

function rolesOf(roles: readonly string[] | undefined): string {
  return `Requires a key with ${roles === undefined ? 'any role' : `the role ${roles.map((role) => `\`${role}\``).join(' or ')}`}.`
}

function parametersOf({ params = {}, query = {}, requiredQuery = [], headers = {} }: DeclaredOperation): Parameter[] {
  const places = [
    ['path', params],
    ['query', query],
    ['header', headers],
  ] as const
  return places.flatMap(([place, properties]) =>
    Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
      name,
      in: place,
      required: place === 'path' || (place === 'query' && requiredQuery.includes(name)),
      description,
      schema,
    })),
  )
}

function responseOf(status: string, declared: ResponseSchema, shared: Shared): Response | Reference {
  const standard: ErrorResponse | undefined = errorResponses[status]
  if (standard !== undefined && declared === standard.schema) {
    const { name, schema, example } = standard
    shared.responses[name] ??= responseOf(status, { ...schema, examples: [example] }, shared) as Response
    return { $ref: `#/components/responses/${name}` }
  }
  const content = declared.content ?? { [json]: { schema: declared } }
  const bodies = Object.entries(content).filter(([, { schema }]) => schema.type !== 'null')
  return {
    description: standard?.description ?? declared.description ?? STATUS_CODES[status] ?? status,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...standard?.headers,
      ...declared.headers,
    },
    ...(bodies.length > 0 && {
      content: Object.fromEntries(bodies.map(([type, { schema }]) => [type, mediaOf(schema, shared)])),
    }),
  }
}

/** Moves the examples of a body next to its schema, where tools expect them. */
function mediaOf({ examples = [], ...schema }: Schema, shared: Shared): Media {
  const numbered = examples.map((value, index) => [`example_${index + 1}`, { value }])
  return { schema: share(schema, shared), ...(numbered.length > 0 && { examples: Object.fromEntries(numbered) }) }
}

/** Defines schemas with a title once and references them, so that generated clients have named types. */
function share(schema: Schema, shared: Shared): Schema {
  const { properties, items, anyOf } = schema
  const shareable: Schema = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, share(part, shared)])),
    }),
    ...(items && { items: share(items, shared) }),
    ...(anyOf && { anyOf: anyOf.map((part) => share(part, shared)) }),
  }
  const { title } = schema
  if (title === undefined) return shareable
  const known = shared.schemas[title]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(shareable)) {
    throw new Error(`Two different schemas have the title ${title}`)
  }
  shared.schemas[title] = shareable
  return { $ref: `#/components/schemas/${title}` }
}

/** The meaning of a status, shared by all operations that use it. */
interface ErrorResponse {
  name: string
  description: string
  schema: Schema
  headers?: Record<string, Header>
  example: unknown
}

const errorResponses: Record<string, ErrorResponse> = {
  401: {
    name: 'Unauthorized',
    description:
      'The key or session is missing, malformed, unknown, revoked, ended or expired. The response is the same in all cases, except that the cookie of an ended session is told why it ended.',
    schema: errorBodySchema,
    headers: {
      'WWW-Authenticate': { description: 'The scheme to use', schema: { const: 'Bearer', type: 'string' } },
    },
    example: bodyOf(unauthorized()),
  },
  403: {
    name: 'Forbidden',
    description: "The key's role does not allow this, or a session was used from a page of another origin.",
    schema: errorBodySchema,
    example: bodyOf(forbidden('ingest')),
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist in your organisation, or the path or method is unknown.',
    schema: errorBodySchema,
    example: bodyOf(notFound()),
  },
  409: {
    name: 'Conflict',
    description: "Conflicts with the resource's current state.",
    schema: errorBodySchema,
    example: bodyOf(new DomainError('conflict', 'This repository is disconnected. Connect it again first.')),
  },
  422: {
    name: 'Invalid',
    description:
      'The request is not valid; the message says what is wrong and where. Also for a wrong Content-Type and an oversized body.',
    schema: errorBodySchema,
    example: bodyOf(invalid('The body is empty: send a JSON object')),
  },
  429: {
    name: 'RateLimited',
    description: 'The monthly limit is reached. Nothing was recorded.',
    schema: rateLimitedBodySchema,
    headers: {
      'Retry-After': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
    },
    example: bodyOf(monthlyLimitError(1_000, 1_000, Date.UTC(2026, 11))),
  },
  500: {
    name: 'InternalError',
    description:
      'The service failed. Treat the request as not stored; the log has the cause under the request ID. If `Retry-After` is set, the service is overloaded.',
    schema: errorBodySchema,
    example: bodyOf(internalError()),
  },
}

function bodyOf(error: DomainError): unknown {
  return JSON.parse(errorBody(error))
}
