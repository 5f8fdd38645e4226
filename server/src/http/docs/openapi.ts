import { STATUS_CODES } from 'node:http'
import type { FastifySchema, RouteOptions } from 'fastify'
import { version } from '../../version.ts'
import { type DocumentedEvent, documentedEvents } from '../alerts/event-schema.ts'
import { ambiguousPromptSchema } from '../prompts/id-schema.ts'
import { introduction, securitySchemes, tags, webhookHeaders } from './descriptions.ts'
import { type ErrorResponse, errorResponses } from './error-responses.ts'
import type { Document, Media, Operation, Parameter, Reference, Response, Schema } from './openapi-document.ts'

declare module 'fastify' {
  /** Documentation of a route, next to its schemas. */
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** Accepted security schemes, any one of them; empty for none. Default: key or session under /api/v1, none elsewhere. */
    security?: readonly string[]
    /** Leaves the route out of the document. */
    hide?: boolean
  }
}

/** The schema of a JSON body, or a whole response with other content types or headers. */
type ResponseSchema = Schema & Partial<Response>

/** Components that are defined once and referenced. */
interface Shared {
  schemas: Record<string, Schema>
  responses: Record<string, Response>
}

const json = 'application/json'
const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Generates the OpenAPI document from the schemas of the routes. */
export function describeRoutes(routes: RouteOptions[]): Document {
  const shared: Shared = { schemas: {}, responses: {} }
  const paths: Document['paths'] = {}
  // Sorted, so that the document only changes when the API does.
  for (const route of routes.filter(({ schema }) => !schema?.hide).toSorted(byPathAndMethod)) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [methodOf(route)]: operationOf(route, shared) }
  }
  const webhooks = Object.fromEntries(
    documentedEvents.map((documented) => [documented.event, { post: webhookOf(documented, shared) }]),
  )
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((path) => Object.values(path))
  const used = operations.flatMap((operation) => operation.tags)
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

function byPathAndMethod(a: RouteOptions, b: RouteOptions): number {
  if (a.url !== b.url) return a.url < b.url ? -1 : 1
  return methods.indexOf(methodOf(a)) - methods.indexOf(methodOf(b))
}

function methodOf({ method }: RouteOptions): string {
  return String(method).toLowerCase()
}

function operationOf({ url, schema = {}, config }: RouteOptions, shared: Shared): Operation {
  const { operationId = '', summary = '', description, tags = [], body, response = {} } = schema
  const isApi = url.startsWith('/api/v1/')
  const security = schema.security?.map((scheme) => ({ [scheme]: [] })) ?? (isApi ? undefined : [])
  const parameters = parametersOf(schema)
  const onPrompt = url.includes(':prompt_id') ? { 422: ambiguousPromptSchema } : {}
  return {
    operationId,
    summary,
    description: [description, isApi && security?.length !== 0 ? rolesOf(config?.roles) : undefined]
      .filter(Boolean)
      .join('\n\n'),
    tags: [...tags],
    ...(security && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: !mayBeNull(body as Schema), content: { [json]: mediaOf(body as Schema, shared) } },
    }),
    responses: Object.fromEntries(
      Object.entries({ ...onPrompt, ...(response as Record<string, ResponseSchema>) }).map(([status, declared]) => [
        status,
        responseOf(status, declared, shared),
      ]),
    ),
  }
}

function webhookOf({ name, summary, description, schema }: DocumentedEvent, shared: Shared): Operation {
  return {
    operationId: `on${name}`,
    summary,
    description,
    tags: ['Events'],
    security: [{ webhook_signature: [] }],
    parameters: webhookHeaders,
    requestBody: { required: true, content: { [json]: mediaOf(schema, shared) } },
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

function parametersOf({ params, querystring, headers }: FastifySchema): Parameter[] {
  const places = [
    ['path', params],
    ['query', querystring],
    ['header', headers],
  ] as [Parameter['in'], Schema | undefined][]
  return places.flatMap(([place, { properties = {}, required = [] } = {}]) =>
    Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
      name,
      in: place,
      required: required.includes(name),
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
