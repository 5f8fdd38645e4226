import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import {
  type Document,
  type Response as Documented,
  type Operation,
  resolve,
} from '../../server/src/http/docs/openapi-document.ts'
import type { Response } from './connection.ts'

export interface DocumentedOperation {
  method: string
  path: string
  operation: Operation
}

/** The responses that the OpenAPI document and docs/api.md allow. */
export interface Contract {
  operations: DocumentedOperation[]
  /** The operation that a request is for, if there is one. */
  find(method: string, target: string): DocumentedOperation | null
  /** Why a response to this request violates the contract; null if it does not. */
  violation(method: string, target: string, response: Response): string | null
  /** The same for malformed HTTP, which always gets 422. */
  malformedViolation(response: Response): string | null
  /** The same for bytes whose meaning is for the service to decide. */
  anyViolation(response: Response): string | null
}

const errorCodes: Record<number, string> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'validation_error',
  429: 'rate_limited',
}

// For requests that are for no operation: no key, a session from another site, an unknown path or method, malformed HTTP.
const statusesInsideApi = [401, 403, 404, 422]
const statusesOutsideApi = [404, 422]
const consolePath = /^\/($|assets\/|prompts($|\/)|repositories($|\/)|alerts($|\/)|sources($|\/)|[^/]+$)/

export function contractOf(document: Document): Contract {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ } })
  ajv.addSchema(document, 'openapi')
  const isError = ajv.compile({ $ref: 'openapi#/components/schemas/Error' })
  const validators = new Map<string, ValidateFunction>()
  const parameterCount = (path: string) => path.split('{').length
  // Like the router, which prefers /alerts/deliveries to /alerts/{alert_id}.
  const paths = Object.entries(document.paths).sort(([one], [other]) => parameterCount(one) - parameterCount(other))
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      return { method: method.toUpperCase(), path, operation, pattern }
    }),
  )

  function validatorFor(name: string, schema: object): ValidateFunction {
    // Schemas refer to each other from the top of the document.
    const validator =
      validators.get(name) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')))
    validators.set(name, validator)
    return validator
  }

  function errorViolation({ status, headers, body }: Response): string | null {
    if (headers.get('content-type') !== 'application/json; charset=utf-8') return 'an error of another content type'
    const value = parseJson(body)
    if (!isError(value)) return 'not an error body'
    const { code } = (value as { error: { code: string } }).error
    return code === errorCodes[status] ? null : `the code ${code}`
  }

  function operationViolation({ operation }: DocumentedOperation, response: Response): string | null {
    const { status, headers, body } = response
    const given = operation.responses[status]
    if (given === undefined) return 'an undocumented status'
    const documented = resolve<Documented>(document, given)
    const missing = Object.keys(documented.headers ?? {}).find((name) => !headers.has(name.toLowerCase()))
    if (missing !== undefined) return `no header ${missing}`
    if (documented.content === undefined) return body.length === 0 ? null : 'an undocumented body'
    const contentType = headers.get('content-type') ?? ''
    const [type = ''] = contentType.split(';')
    const media = documented.content[type]
    if (media === undefined) return `the undocumented content type ${contentType}`
    const isJson = type === 'application/json'
    if (isJson && contentType !== 'application/json; charset=utf-8') return `the content type ${contentType}`
    const isValid = validatorFor(`${operation.operationId} ${status} ${type}`, media.schema)
    if (!isValid(isJson ? parseJson(body) : body.toString())) return `another shape: ${JSON.stringify(isValid.errors)}`
    return status < 400 ? null : errorViolation(response)
  }

  function unknownViolation(method: string, path: string, response: Response): string | null {
    const { status } = response
    const isRead = method === 'GET' || method === 'HEAD'
    // The preflight of a vote from a page.
    if (method === 'OPTIONS' && path === '/api/v1/votes' && status === 204) return null
    const isInsideApi = path === '/api/v1' || path.startsWith('/api/v1/')
    if (!isInsideApi && isRead && consolePath.test(path) && (status === 200 || status === 304)) return null
    if (!(isInsideApi ? statusesInsideApi : statusesOutsideApi).includes(status)) return 'an undocumented status'
    // Outside the API, a browser gets the console's page for unknown paths.
    const isPage = response.headers.get('content-type') === 'text/html; charset=utf-8'
    if (!isInsideApi && isRead && status === 404 && isPage) return null
    return method === 'HEAD' ? null : errorViolation(response)
  }

  const withRequestId = (response: Response, check: () => string | null) =>
    response.headers.get('x-request-id') ? check() : 'no X-Request-Id'

  function find(method: string, target: string): DocumentedOperation | null {
    const path = decodedPath(target)
    return operations.find((operation) => operation.method === method && operation.pattern.test(path)) ?? null
  }

  return {
    operations,
    find,
    violation: (method, target, response) =>
      withRequestId(response, () => {
        if (response.status >= 500) return 'a server error'
        const operation = find(method, target)
        if (operation === null) return unknownViolation(method, decodedPath(target), response)
        return operationViolation(operation, response)
      }),
    malformedViolation: (response) =>
      withRequestId(response, () =>
        response.status === 422 ? errorViolation(response) : 'not 422 for malformed HTTP',
      ),
    anyViolation: (response) =>
      withRequestId(response, () => (response.status === 200 ? null : errorViolation(response))),
  }
}

/** The decoded path. An encoded slash separates nothing, and a path that cannot be decoded stays as it is. */
function decodedPath(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  if (!path.includes('%')) return path
  try {
    const parts = path.split('/').map((part) => decodeURIComponent(part).replaceAll('/', '%2F'))
    return parts.join('/')
  } catch {
    return path
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
