import type { Right } from '../server/src/domain/access/api-key.ts'

/** In the schema of an object: the properties that a share link shows. It shows no others, so a new one is not shown by accident. */
export const shared: unique symbol = Symbol('shared')

/** Of these, the texts that a share link shows as they are. It leaves addresses of people out of all others. */
export const verbatim: unique symbol = Symbol('verbatim')

/** JSON Schema, as far as the contract uses it. */
export interface Schema {
  [shared]?: readonly string[]
  [verbatim]?: readonly string[]
  $ref?: string
  title?: string
  description?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  required?: readonly string[]
  properties?: Properties
  minProperties?: number
  additionalProperties?: boolean
  items?: Schema
  minItems?: number
  maxItems?: number
  anyOf?: readonly Schema[]
  examples?: readonly unknown[]
}

export type Properties = Readonly<Record<string, Schema>>

export interface Header {
  description: string
  schema: Schema
}

/** The schema of a JSON body, or a whole response with other content types or headers. */
export interface ResponseSchema extends Schema {
  headers?: Readonly<Record<string, Header>>
  content?: Readonly<Record<string, { schema: Schema }>>
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What describes an operation. Its route, its documentation and its methods in the clients are derived from it. */
interface Declaration {
  method: Method
  path: `/${string}`
  /** Its resource and method in the clients: see scripts/client-resources.ts. Python has the same in snake case. */
  client?: `${string}.${string}`
  /** How long the clients wait for it by default, if it is slow. */
  timeoutMs?: number
  /** Whether a POST may be sent twice with the effect of one, so that the clients retry it. */
  idempotent?: boolean
  /** Whether the clients need a body, although none of its fields is required. */
  needsBody?: boolean
  summary: string
  description?: string
  /** Where the reference lists it, if not with the others of its file. */
  tag?: string
  /** The roles that may call it; any role if absent. */
  roles?: Right
  /** Whether share links may call it, on their own prompt. Rejected if absent. */
  shared?: 'always' | 'with signals'
  /** Accepted security schemes, any one of them; empty for none. Default: key or session under /api/v1, none elsewhere. */
  security?: readonly string[]
  /** How the load shedder counts it: see server/src/http/admission/load-shedder.ts. */
  light?: boolean
  batch?: boolean
  changesSignals?: boolean
  params?: Properties
  query?: Properties
  /** The parameters of the query that may not be left out. */
  requiredQuery?: readonly string[]
  headers?: Properties
  body?: Schema
  /** By status. The errors that follow from the rest need not be declared: see server/src/http/docs/openapi.ts. */
  response: Readonly<Record<number, ResponseSchema>>
}

export interface Operation extends Declaration {
  id: string
  tag: string
}

/** The operations of a noun, by their IDs. `tag` says where the reference lists them. */
export function defineOperations<const Id extends string>(
  tag: string,
  declarations: Record<Id, Declaration>,
): Record<Id, Operation> {
  const operations = {} as Record<Id, Operation>
  for (const id in declarations) operations[id] = { id, tag, ...declarations[id] }
  return operations
}
