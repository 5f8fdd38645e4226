import { STATUS_CODES } from 'node:http'
import type { FastifySchema, RouteOptions } from 'fastify'
import { version } from '../../version.ts'
import { introduction, securitySchemes, tags } from './descriptions.ts'
import { type ErrorResponse, errorResponses } from './error-responses.ts'
import type { Document, Media, Operation, Parameter, Reference, Response, Schema } from './openapi-document.ts'

declare module 'fastify' {
  /** What a route says about itself, beside its shapes. */
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** The security schemes of which one must be met: key or session under /api/v1 and none elsewhere, unless told. */
    security?: readonly string[]
    /** That it is not part of the interface. */
    hide?: boolean
  }
}

/** The schema of a JSON body, or a whole response where there are other types or headers to tell of. */
type Answer = Schema & Partial<Response>

/** What is written once and referred to. */
interface Shared {
  schemas: Record<string, Schema>
  responses: Record<string, Response>
}

const json = 'application/json'
const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Describes routes in OpenAPI by their own schemas. */
export function describeRoutes(routes: RouteOptions[]): Document {
  const shared: Shared = { schemas: {}, responses: {} }
  const paths: Document['paths'] = {}
  // In an order of its own, so that the document changes only where the interface does.
  for (const route of routes.filter(({ schema }) => !schema?.hide).toSorted(byPathAndMethod)) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [methodOf(route)]: operationOf(route, shared) }
  }
  const used = Object.values(paths).flatMap((path) => Object.values(path).flatMap((operation) => operation.tags))
  return {
    openapi: '3.1.1',
    info: {
      title: 'Promptledger',
      version,
      summary: "The record of what happened to a team's prompts, and what users thought of it",
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from' }],
    security: [{ key: [] }, { session: [] }],
    tags: tags.filter(({ name }) => used.includes(name)),
    paths,
    components: {
      securitySchemes,
      headers: {
        RequestId: { description: 'What the log calls this request', schema: { type: 'string' } },
      },
      responses: sorted(shared.responses),
      schemas: sorted(shared.schemas),
    },
  }
}

function sorted<T>(parts: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(parts).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function byPathAndMethod(one: RouteOptions, other: RouteOptions): number {
  if (one.url !== other.url) return one.url < other.url ? -1 : 1
  return methods.indexOf(methodOf(one)) - methods.indexOf(methodOf(other))
}

function methodOf({ method }: RouteOptions): string {
  return String(method).toLowerCase()
}

function operationOf({ url, schema = {}, config }: RouteOptions, shared: Shared): Operation {
  const { operationId = '', summary = '', description, tags = [], body, response = {} } = schema
  const isApi = url.startsWith('/api/v1/')
  const security = schema.security?.map((scheme) => ({ [scheme]: [] })) ?? (isApi ? undefined : [])
  const parameters = parametersOf(schema)
  return {
    operationId,
    summary,
    description: [description, isApi ? rolesOf(config?.roles) : undefined].filter(Boolean).join('\n\n'),
    tags: [...tags],
    ...(security && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: !mayBeNull(body as Schema), content: { [json]: mediaOf(body as Schema, shared) } },
    }),
    responses: Object.fromEntries(
      Object.entries(response as Record<string, Answer>).map(([status, answer]) => [
        status,
        responseOf(status, answer, shared),
      ]),
    ),
  }
}

function mayBeNull({ type }: Schema): boolean {
  return [type].flat().includes('null')
}

function rolesOf(roles: readonly string[] | undefined): string {
  return `For keys of ${roles === undefined ? 'any role' : `role ${roles.map((role) => `\`${role}\``).join(' or ')}`}.`
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

function responseOf(status: string, answer: Answer, shared: Shared): Response | Reference {
  const refusal: ErrorResponse | undefined = errorResponses[status]
  if (refusal !== undefined && answer === refusal.schema) {
    const { name, schema, example } = refusal
    shared.responses[name] ??= responseOf(status, { ...schema, examples: [example] }, shared) as Response
    return { $ref: `#/components/responses/${name}` }
  }
  const content = answer.content ?? { [json]: { schema: answer } }
  const bodies = Object.entries(content).filter(([, { schema }]) => schema.type !== 'null')
  return {
    description: refusal?.description ?? answer.description ?? STATUS_CODES[status] ?? status,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...refusal?.headers,
      ...answer.headers,
    },
    ...(bodies.length > 0 && {
      content: Object.fromEntries(bodies.map(([type, { schema }]) => [type, mediaOf(schema, shared)])),
    }),
  }
}

/** The examples of a body go beside its schema, where tools look for them. */
function mediaOf({ examples = [], ...schema }: Schema, shared: Shared): Media {
  const numbered = examples.map((value, index) => [`example_${index + 1}`, { value }])
  return { schema: share(schema, shared), ...(numbered.length > 0 && { examples: Object.fromEntries(numbered) }) }
}

/** Schemas with a title are written once and referred to by it, so that generated clients have names for them. */
function share(schema: Schema, shared: Shared): Schema {
  const { properties, items, anyOf } = schema
  const written: Schema = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, share(part, shared)])),
    }),
    ...(items && { items: share(items, shared) }),
    ...(anyOf && { anyOf: anyOf.map((part) => share(part, shared)) }),
  }
  const { title } = schema
  if (title === undefined) return written
  const known = shared.schemas[title]
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(written)) {
    throw new Error(`Two different schemas have the title ${title}`)
  }
  shared.schemas[title] = written
  return { $ref: `#/components/schemas/${title}` }
}
