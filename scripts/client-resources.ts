import { operations } from '../contract/index.ts'
import type { Operation } from '../contract/operation.ts'
import { descriptionOf, namedShapes, referenceTo, resolve, type Schema, typeOf } from './client-types.ts'

/** An operation with its place in the clients. */
export interface Call extends Operation {
  resource: string
  name: string
  /** The names of the parameters in its path, in order. */
  pathParameters: string[]
  result: { kind: 'nothing' } | { kind: 'page' | 'data' | 'body'; schema: Schema }
}

/** Written by hand, because they do more than send one request. */
const special = [
  'session.create',
  'signals.create',
  'signals.createMany',
  'signals.export',
  'signals.list',
  'timeline.export',
]

const shapes = namedShapes()
const names = new Map(shapes.map(([name, schema]) => [typeOf(schema), name]))

/** The calls of each resource, without those in `except`. */
export function callsByResource(except: string[]): [resource: string, calls: Call[]][] {
  const calls = operations.flatMap((operation) => {
    const { client, path } = operation
    if (client === undefined || except.includes(client)) return []
    const [resource = '', name = ''] = client.split('.')
    const pathParameters = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string)
    return [{ ...operation, resource, name, pathParameters, result: resultOf(operation) }]
  })
  return Object.entries(Object.groupBy(calls, ({ resource }) => resource)) as [string, Call[]][]
}

function resultOf({ response }: Operation): Call['result'] {
  // The first status is the success.
  const schema = Object.values(response)[0] as Schema
  if (schema.type === 'null') return { kind: 'nothing' }
  const { data, pagination } = schema.properties ?? {}
  if (data?.items !== undefined && pagination !== undefined) return { kind: 'page', schema }
  return data === undefined || 'total' in (schema.properties ?? {})
    ? { kind: 'body', schema }
    : { kind: 'data', schema: data }
}

/** What a call does, who may do it and how long it may take, in one paragraph. */
export function docOfCall(
  { summary, description = '', roles: allowed, timeoutMs }: Call,
  timeout: (ms: number) => string,
) {
  const roles: readonly string[] = allowed ?? []
  const isRestricted = !roles.includes('reader') && !roles.includes('ingest') && roles.length > 0
  return [
    descriptionOf({ description: summary }),
    descriptionOf({ description }),
    isRestricted ? `Needs a key with the role ${roles.map((role) => `\`${role}\``).join(' or ')}.` : '',
    timeoutMs === undefined ? '' : `The timeout defaults to ${timeout(timeoutMs)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** The text of `client/src/generated/resources.ts`. */
export function generateResources(): string {
  const resources = callsByResource(special).map(([resource, calls]) => {
    const type = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`
    const methods = calls.map(methodOf).join('\n')
    return `export type ${type} = ReturnType<typeof ${resource}>\n\nexport function ${resource}(service: Transport) {\n  return {\n${methods}  }\n}\n`
  })
  const text = resources.join('\n')
  return [
    "import { createPages, type Pages } from '../page.ts'",
    "import { type RequestOptions, requestData, type Transport } from '../request.ts'",
    "import type * as Wire from '../types.ts'",
    '',
    text,
  ].join('\n')
}

function methodOf(call: Call): string {
  const { method, path, name, query, requiredQuery = [], body, idempotent, timeoutMs, pathParameters, params } = call
  const url = path
    .replace('/api/v1', '')
    .replace(/:(\w+)/g, (_, parameter: string) => `\${encodeURIComponent(${camelCase(parameter)})}`)
  const positional = [
    ...pathParameters.map((parameter) => `${camelCase(parameter)}: ${typeOf(params?.[parameter] as Schema)}`),
    ...requiredQuery.map((parameter) => `${parameter}: ${typeOf(query?.[parameter] as Schema)}`),
  ]
  const queryType = query && wire(names.get(typeOf({ properties: query })) ?? typeOf({ properties: query }))
  const parameters = [
    ...positional,
    ...(queryType
      ? [
          `query?: ${requiredQuery.length === 0 ? queryType : `Omit<${queryType}, ${requiredQuery.map((parameter) => `'${parameter}'`).join(' | ')}>`}`,
        ]
      : []),
    ...(body
      ? [`body: ${wire(names.get(typeOf(resolve(body))) ?? typeOf(body))}${mayBeOmitted(call) ? ' = {}' : ''}`]
      : []),
    'options?: RequestOptions',
  ].join(', ')
  const sentQuery = requiredQuery.length === 0 ? 'query' : 'wholeQuery'
  const wholeQuery =
    requiredQuery.length === 0
      ? ''
      : `      const wholeQuery: ${queryType} = { ...query, ${requiredQuery.join(', ')} }\n`
  const doc = `    /** ${docOfCall(call, (ms) => `${ms.toLocaleString('en')} ms`).replaceAll('*/', '*\\/')} */\n`
  const text = `\`${url}\``
  if (call.result.kind === 'page') {
    const item = wire(nameOf(call.result.schema.properties?.data?.items as Schema))
    return `${doc}    ${name}(${parameters}): Pages<${item}${pageType(call.result.schema, item)}> {\n${wholeQuery}      return createPages(service, ${text}, ${sentQuery}, options)\n    },\n`
  }
  const operation = [
    `method: '${method}'`,
    `path: ${text}`,
    ...(query ? [`query: ${sentQuery}`] : []),
    ...(body ? ['body'] : []),
    ...(idempotent ? ['isIdempotent: true'] : []),
    ...(timeoutMs ? [`timeout: ${timeoutMs}`] : []),
  ].join(', ')
  const result = call.result.kind === 'nothing' ? 'void' : wire(nameOf(call.result.schema))
  const send = call.result.kind === 'data' ? 'requestData(service, ' : 'service.json('
  return `${doc}    ${name}(${parameters}): Promise<${result}> {\n${wholeQuery}      return ${send}{ ${operation} }, options)\n    },\n`
}

/** Whether a call without a body makes sense. */
function mayBeOmitted({ method, body, needsBody }: Operation): boolean {
  return method === 'POST' && body?.required === undefined && body?.minProperties === undefined && !needsBody
}

/** Pages with more than their items have a type of their own in `client/src/types.ts`, and in `page.py`. */
export function pageKind({ properties = {} }: Schema): 'AttributedPage' | 'VersionPage' | 'TextPage' | null {
  if ('unknown_versions' in properties) return 'AttributedPage'
  if ('complete' in properties) return 'VersionPage'
  return 'search' in properties ? 'TextPage' : null
}

function pageType(schema: Schema, item: string): string {
  const kind = pageKind(schema)
  if (kind === null) return ''
  return `, Wire.${kind}${kind === 'AttributedPage' ? `<${item}>` : ''}`
}

function nameOf(schema: Schema): string {
  return referenceTo(schema, { names, isQuery: false })
}

function wire(name: string): string {
  return /^[A-Z]\w*$/.test(name) ? `Wire.${name}` : name
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
