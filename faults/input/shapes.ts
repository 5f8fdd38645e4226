import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Document, type Operation, type Response, resolve } from '../../server/src/http/docs/openapi-document.ts'
import type { Answer } from './wire.ts'

/** An operation of the document, where it stands. */
export interface Documented {
  method: string
  path: string
  operation: Operation
}

/** What the documentation allows. */
export interface Shapes {
  operations: Documented[]
  /** The operation that a request asks for, if there is one. */
  find(method: string, target: string): Documented | null
  /** What is wrong with an answer to this request; null where it is as documented. */
  wrongWith(method: string, target: string, answer: Answer): string | null
  /** The same for what is no request: it is answered with 422 and nothing else. */
  wrongWithBroken(answer: Answer): string | null
  /** The same where nobody can tell what was asked for. */
  wrongWithAny(answer: Answer): string | null
}

const codes: Record<number, string> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'validation_error',
  429: 'rate_limited',
}

// docs/interface.md, where no operation is meant: no key, a session of another page, no such path or method, no proper HTTP.
const unknownInside = [401, 403, 404, 422]
const unknownOutside = [404, 422]
// The console, which is no part of the interface.
const consolePath = /^\/($|assets\/|prompts($|\/)|repositories($|\/)|[^/]+$)/

export function shapesOf(document: Document): Shapes {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ } })
  ajv.addSchema(document, 'openapi')
  const isError = ajv.compile({ $ref: 'openapi#/components/schemas/Error' })
  const fitting = new Map<string, ValidateFunction>()
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const patterns = operations.map((documented) => {
    const pattern = documented.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
    return { documented, pattern: new RegExp(`^${pattern}$`) }
  })

  function find(method: string, target: string): Documented | null {
    const path = pathOf(target)
    const found = patterns.find(({ documented, pattern }) => documented.method === method && pattern.test(path))
    return found?.documented ?? null
  }

  function fits({ operation }: Documented, status: number, type: string, schema: object): ValidateFunction {
    const name = `${operation.operationId} ${status} ${type}`
    let found = fitting.get(name)
    if (found === undefined) {
      // Schemas refer to each other from the top of the document.
      found = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')))
      fitting.set(name, found)
    }
    return found
  }

  function wrongWithError({ status, headers, body }: Answer): string | null {
    if (headers.get('content-type') !== 'application/json; charset=utf-8') return 'an error of another type'
    const value = parsed(body)
    if (!isError(value)) return 'not the body of an error'
    const { code } = (value as { error: { code: string } }).error
    return code === codes[status] ? null : `the code ${code}`
  }

  function wrongWithOperation(documented: Documented, answer: Answer): string | null {
    const { status, headers, body } = answer
    const given = documented.operation.responses[status]
    if (given === undefined) return 'an undocumented status'
    const response = resolve<Response>(document, given)
    const missing = Object.keys(response.headers ?? {}).find((name) => !headers.has(name.toLowerCase()))
    if (missing !== undefined) return `no header ${missing}`
    if (response.content === undefined) return body.length === 0 ? null : 'a body where there is none'
    const type = headers.get('content-type') ?? ''
    const [bare = ''] = type.split(';')
    const media = response.content[bare]
    if (media === undefined) return `the undocumented type ${type}`
    if (bare === 'application/json' && type !== 'application/json; charset=utf-8') return `the type ${type}`
    const fit = fits(documented, status, bare, media.schema)
    if (!fit(bare === 'application/json' ? parsed(body) : body.toString())) {
      return `another shape: ${JSON.stringify(fit.errors)}`
    }
    return status < 400 ? null : wrongWithError(answer)
  }

  function wrongWithUnknown(method: string, path: string, answer: Answer): string | null {
    const { status } = answer
    const reading = method === 'GET' || method === 'HEAD'
    const inside = path === '/api/v1' || path.startsWith('/api/v1/')
    if (!inside && reading && consolePath.test(path) && (status === 200 || status === 304)) return null
    if (!(inside ? unknownInside : unknownOutside).includes(status)) return 'a status that nothing allows'
    return method === 'HEAD' ? null : wrongWithError(answer)
  }

  return {
    operations,
    find,
    wrongWith(method, target, answer) {
      if (!answer.headers.get('x-request-id')) return 'no X-Request-Id'
      if (answer.status >= 500) return 'a failure'
      const documented = find(method, target)
      return documented === null
        ? wrongWithUnknown(method, pathOf(target), answer)
        : wrongWithOperation(documented, answer)
    },
    wrongWithBroken(answer) {
      if (!answer.headers.get('x-request-id')) return 'no X-Request-Id'
      return answer.status === 422 ? wrongWithError(answer) : 'not a 422 for what is no request'
    },
    wrongWithAny(answer) {
      if (!answer.headers.get('x-request-id')) return 'no X-Request-Id'
      return answer.status === 200 ? null : wrongWithError(answer)
    },
  }
}

/** The path that is asked for. Encoded slashes part nothing, and what cannot be decoded stands for itself. */
function pathOf(target: string): string {
  const [path = ''] = target.split(/[?#]/, 1)
  if (!path.includes('%')) return path
  try {
    return path
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('/', '%2F'))
      .join('/')
  } catch {
    return path
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
