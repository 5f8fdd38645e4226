import { type ErrorCode, errorCodes } from '../server/src/domain/errors.ts'
import { type Properties, type ResponseSchema, type Schema, shared, verbatim } from './operation.ts'

export const exportFormats = ['ndjson', 'csv'] as const

export const crossOriginMessage =
  'A session can only make changes from pages of this service (same origin). From elsewhere, send an API key.'

const message = { type: 'string', description: 'Human-readable description' } as const

export const errorBodySchema = {
  title: 'Error',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { enum: errorCodes, description: 'Machine-readable error type' }, message },
    },
  },
} as const

/** The body of an error that says more than its code and its message. */
export function errorWith(
  title: string,
  code: ErrorCode,
  more: Properties,
  required: readonly string[] = [],
): ResponseSchema {
  const properties = { code: { const: code }, message, ...more }
  return {
    title,
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'object', required: ['code', 'message', ...required], properties } },
  }
}

/** The body of a response to more than a limit allows. */
export function limitedSchema(title: string, limit: string, used: string, resetsAt: string): ResponseSchema {
  const more = {
    limit: { type: 'integer', description: limit },
    used: { type: 'integer', description: used },
    resets_at: { type: 'string', format: 'date-time', description: resetsAt },
  }
  return errorWith(title, 'rate_limited', more, Object.keys(more))
}

export const rateLimitedBodySchema = limitedSchema(
  'RateLimited',
  "The plan's monthly signal limit",
  'Signals recorded in the current month',
  'When the counter resets',
)

/** The error body with an example message specific to one operation. */
export function errorSchema(code: ErrorCode, message: string) {
  return { ...errorBodySchema, examples: [{ error: { code, message } }] }
}

export function invalidSchema(message: string) {
  return errorSchema('validation_error', message)
}

export function conflictSchema(message: string) {
  return errorSchema('conflict', message)
}

/** The response of every operation to a request that is not valid HTTP. */
export const malformedRequestSchema = invalidSchema('The headers are too large')

/** The response of an operation without a body to a body that is not JSON: bodies are parsed before it is known that none is needed. */
export const unexpectedBodySchema = invalidSchema('The header Content-Type must be application/json')

/** The response to a query parameter that is not a time. */
export function invalidTimeSchema(parameter: string) {
  return invalidSchema(`${parameter} must be an ISO 8601 time with a time zone, such as 2026-11-15T09:30:00.000Z`)
}

export const pageQuerySchema = {
  page: { type: 'integer', default: 1, minimum: 1, description: 'Page number' },
  limit: { type: 'integer', default: 25, minimum: 1, maximum: 100, description: 'Results per page' },
} as const

export const paginationSchema = object(
  {
    current_page: { type: 'integer', description: 'The page returned' },
    total_pages: { type: 'integer', description: 'Number of pages at the current per_page' },
    total_count: { type: 'integer', description: 'Total number of entries' },
    per_page: { type: 'integer', description: 'Page size used' },
  },
  {
    title: 'Pagination',
    description: 'Position of a page in its list',
    shared: ['current_page', 'total_pages', 'total_count', 'per_page'],
  },
)

export const searchPaginationSchema = {
  ...paginationSchema,
  title: 'SearchPagination',
  description:
    'Position of a page in its list. `total_pages` and `total_count` are null if a search does not know them',
  properties: {
    ...paginationSchema.properties,
    total_pages: { type: ['integer', 'null'], description: 'Number of pages at the current per_page' },
    total_count: { type: ['integer', 'null'], description: 'Total number of entries' },
  },
} as const

/** The pagination of a list that fits on one page. */
export function paginationExample(totalCount: number) {
  return { current_page: 1, total_pages: 1, total_count: totalCount, per_page: 25 }
}

const hoursInYear = 8_760

export const defaultOverlapHours = 24

/** The body of a rotation, which may be left out: the default applies. */
export function overlapSchema(subject: 'key' | 'secret') {
  return {
    type: ['object', 'null'],
    properties: {
      overlap_hours: {
        type: 'integer',
        minimum: 0,
        maximum: hoursInYear,
        default: defaultOverlapHours,
        description: `Hours for which the old ${subject} stays valid. 0 if it has leaked`,
      },
    },
    examples: [{ overlap_hours: 48 }],
  } as const
}

export interface OverlapBody {
  overlap_hours?: number
}

export const textOrNull = { type: ['string', 'null'] } as const
export const time = { type: 'string', format: 'date-time' } as const
export const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

/** The period of a list, in its query. */
export const periodQuerySchema = {
  since: { ...time, description: 'From this time, inclusive', examples: ['2026-11-01T00:00:00.000Z'] },
  until: { ...time, description: 'Until this time, exclusive', examples: ['2026-12-01T00:00:00.000Z'] },
} as const

/** Two values, such as the ends of a range. */
export function pair<const Item extends Schema>(items: Item, description: string) {
  return { type: 'array', items, minItems: 2, maxItems: 2, description } as const
}

interface ObjectOptions<Of> {
  optional?: readonly (keyof Of)[]
  /** What a share link shows, and of that the texts that it shows as they are: see the symbols of these names. */
  shared?: readonly (keyof Of)[]
  verbatim?: readonly (keyof Of)[]
}

type Required<Of, Optional extends PropertyKey> = readonly Extract<Exclude<keyof Of, Optional>, string>[]

/** An object with exactly these properties, which are all required except for those in `optional`. */
export function object<
  const Of extends Properties,
  const More extends Schema & ObjectOptions<Of> = Record<never, never>,
>(properties: Of, more?: More) {
  const {
    optional = [],
    shared: shown = [],
    verbatim: exact = [],
    ...rest
  } = (more ?? {}) as Schema & ObjectOptions<Of>
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  const visible = { [shared]: shown, [verbatim]: exact }
  return { ...rest, ...visible, type: 'object', required, properties, additionalProperties: false } as unknown as Omit<
    More,
    keyof ObjectOptions<Of>
  > & {
    type: 'object'
    required: Required<Of, More extends { optional: readonly (infer Name extends PropertyKey)[] } ? Name : never>
    properties: Of
    additionalProperties: false
  }
}

/** A response with one resource. */
export function one(data: Schema, description: string, example: unknown): ResponseSchema {
  return { ...object({ data }, { shared: ['data'] }), description, examples: [{ data: example }] }
}

/** A response with one page of a list. */
export function list(items: Schema, description: string, examples: readonly unknown[]): ResponseSchema {
  return {
    ...object({ data: { type: 'array', items }, pagination: paginationSchema }, { shared: ['data', 'pagination'] }),
    description,
    examples: [{ data: examples, pagination: paginationExample(examples.length) }],
  }
}

/** A response with headers of its own. */
export function withHeaders(
  headers: ResponseSchema['headers'] & object,
  schema: ResponseSchema,
  description = schema.description ?? '',
): ResponseSchema {
  return { description, headers, content: { 'application/json': { schema } } }
}
