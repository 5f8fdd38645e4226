import { tags } from '../server/src/http/docs/descriptions.ts'
import { type Call, callsByResource, docOfCall, pageKind } from './client-resources.ts'
import { isNullable, namedShapes, resolve, type Schema, typeOf } from './client-types.ts'
import { capitalised, docText } from './python-models.ts'

/** Written by hand, because they do more than send one request, or only browsers need them. */
const special = [
  'session.create',
  'session.delete',
  'signals.create',
  'signals.createMany',
  'signals.export',
  'signals.list',
  'signals.summary',
  'timeline.export',
  'timeline.list',
]

/** Parameters of paths that have another name in Python. */
const positionalNames: Record<string, string> = { prompt_id: 'prompt', message_id: 'delivery_id' }

/** Parameters that take more than the text that the API defines. */
const wider: Record<string, string> = {
  'alerts.rotateSecret overlap_hours': 'float',
  'audit.list actor': 'Union[int, str]',
  'keys.rotate overlap_hours': 'float',
  'repositories.rotateSecret overlap_hours': 'float',
}

const names = new Map(
  namedShapes()
    .filter(([name]) => !name.endsWith('Query'))
    .map(([name, schema]) => [typeOf(schema), name]),
)

interface Argument {
  /** In the request. */
  key: string
  name: string
  schema: Schema
  type: string
  isRequired: boolean
  isTime: boolean
  /** Whether the call replaces the value with this one. */
  isReplaced: boolean
}

/** The text of `generated.py`: the resources, one class each. */
export function generatePythonResources(): string {
  const classes = callsByResource(special).map(([resource, calls]) => {
    // A tag can cover several resources, and its text is about all of them.
    const tag = tags.find(({ name }) => name.toLowerCase() === resource)
    const description = tag?.description ?? `The ${resource} of the API.`
    const head = `class ${capitalised(resource)}:\n${docText(description)}\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n`
    return `${head}\n${calls.map(methodOf).join('\n')}`
  })
  return `"""The resources of the API."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from . import models
from .not_given import NOT_GIVEN, NotGiven, given, not_none
from .page import AttributedPage, Page, Pages, TextPage, VersionPage, plain_pages
from .times import Time, iso_time
from .transport import Operation, Transport


${classes.join('\n\n')}`
}

/** The text of `async_generated.py`: the same methods, as coroutine functions. */
export function generateAsyncPythonResources(): string {
  const classes = callsByResource(special).map(([resource, calls]) => {
    const methods = calls.map(({ name, result }) => {
      const method = snakeCase(name)
      return `        self.${method} = threads.${result.kind === 'page' ? 'pages' : 'awaitable'}(ledger.${resource}.${method})\n`
    })
    return `class Async${capitalised(resource)}:\n    def __init__(self, ledger: Promptledger, threads: Threads) -> None:\n${methods.join('')}`
  })
  return `"""The resources of the API, for asyncio."""

from __future__ import annotations

from .client import Promptledger
from .threads import Threads


${classes.join('\n\n')}`
}

function methodOf(call: Call): string {
  const { method, path, name, query, requiredQuery = [], body, idempotent, timeoutMs, params = {}, result } = call
  const positional = call.pathParameters.map((key) => {
    const isText = params[key]?.type === 'string'
    const argument = positionalNames[key] ?? key
    return {
      key,
      text: `${argument}: ${isText ? 'str' : 'int'}`,
      value: isText ? `quote(${argument}, safe='')` : `int(${argument})`,
    }
  })
  const url = path
    .replace('/api/v1', '')
    .replace(/:(\w+)/g, (_, key: string) => `{${positional.find((parameter) => parameter.key === key)?.value}}`)
  const isUpdate = method === 'PATCH'
  const bodyName = body && names.get(typeOf(resolve(body)))
  const fields = Object.entries(body?.properties ?? {}).map(([key, schema]) =>
    argumentOf(call, key, schema, body?.required?.includes(key) ?? false, `${bodyName}${capitalised(key)}`),
  )
  const parameters = Object.entries(query ?? {}).map(([key, schema]) =>
    argumentOf(call, key, schema, requiredQuery.includes(key), ''),
  )
  const keywords = [...parameters, ...fields]
  const ordered = [...keywords.filter(hasNoDefault), ...keywords.filter((argument) => !hasNoDefault(argument))]
  const signature = [
    'self',
    ...positional.map(({ text }) => text),
    ...(keywords.length > 0 ? ['*'] : []),
    ...ordered.map((argument) => parameterText(argument, isUpdate)),
  ]
  const lines: string[] = []
  const operation = [`"${method}"`, `${positional.length > 0 ? 'f' : ''}"${url}"`]
  if (query !== undefined) {
    lines.push(`query = {${parameters.map(({ key, name }) => `"${key}": ${name}`).join(', ')}}`)
    operation.push('query=query')
  }
  if (body !== undefined) {
    const always = fields.filter(({ isRequired }) => isRequired).map((field) => member(field, false))
    const optional = fields.filter(({ isRequired }) => !isRequired).map((field) => member(field, isUpdate))
    const rest = optional.length === 0 ? [] : [`**${isUpdate ? 'given' : 'not_none'}({${optional.join(', ')}})`]
    lines.push(`body: dict[str, Any] = {${[...always, ...rest].join(', ')}}`)
    operation.push('body=body')
  }
  if (idempotent) operation.push('is_idempotent=True')
  if (timeoutMs !== undefined) operation.push(`timeout=${timeoutMs / 1_000}.0`)
  const [type, ...send] = sending(operation)
  const head = `    def ${snakeCase(name)}(\n        ${signature.join(',\n        ')},\n    ) -> ${type}:\n`
  return `${head}${methodDoc(call, keywords)}${[...lines, ...send].map((line) => `        ${line}\n`).join('')}`

  /** The type of the result, and the lines that send the request. */
  function sending(operation: string[]): string[] {
    if (result.kind === 'nothing') return ['None', `self._transport.json(Operation(${operation.join(', ')}))`]
    if (result.kind !== 'page') {
      const type = typeText(result.schema, '')
      return [type, `result: ${type} = self._transport.data(Operation(${operation.join(', ')}))`, 'return result']
    }
    const item = typeText(result.schema.properties?.data?.items as Schema, '')
    const kind = pageKind(result.schema)
    if (kind === null)
      return [`Pages[${item}, Page[${item}]]`, `return plain_pages(self._transport, ${operation[1]}, query)`]
    const extra = { AttributedPage: 'unknown_versions', VersionPage: 'complete', TextPage: 'search' }[kind]
    const pageType = kind === 'AttributedPage' ? `${kind}[${item}]` : kind
    return [
      `Pages[${item}, ${pageType}]`,
      `return Pages(self._transport, ${operation[1]}, query, lambda body: ${kind}(body["data"], body["pagination"], body["${extra}"]))`,
    ]
  }
}

/** What the call does, and what its arguments mean. */
function methodDoc(call: Call, keywords: Argument[]): string {
  const documented = keywords.filter(({ schema }) => schema.description !== undefined)
  const args = documented.map(({ name, schema }) => `${name}: ${schema.description}.`)
  return docText(
    docOfCall(call, (ms) => `${ms / 1_000} s`),
    args,
    '        ',
  )
}

function argumentOf(call: Call, key: string, schema: Schema, isRequired: boolean, place: string): Argument {
  const isTime = resolve(schema).format === 'date-time'
  const type = wider[`${call.client} ${key}`] ?? (isTime ? 'Time' : typeText(schema, place))
  // Reserved in Python.
  return {
    key,
    name: key === 'from' ? 'from_' : key,
    schema,
    type,
    isRequired,
    isTime,
    isReplaced: call.method === 'PUT',
  }
}

/** What is chosen or replaced has no default, even where it can be null: that means something. */
function hasNoDefault({ isRequired, schema, isReplaced }: Argument): boolean {
  return isRequired && (!isNullable(schema) || schema.enum !== undefined || isReplaced)
}

function parameterText(argument: Argument, isUpdate: boolean): string {
  const { name, type, schema, isRequired } = argument
  if (hasNoDefault(argument)) return `${name}: ${isNullable(schema) ? `Optional[${type}]` : type}`
  if (!isUpdate || isRequired) return `${name}: Optional[${type}] = None`
  return `${name}: Union[${type}, ${isNullable(schema) ? 'None, ' : ''}NotGiven] = NOT_GIVEN`
}

function member({ key, name, isTime, isRequired }: Argument, isUpdate: boolean): string {
  if (!isTime) return `"${key}": ${name}`
  if (isUpdate) return `"${key}": ${name} if ${name} is None or isinstance(${name}, NotGiven) else iso_time(${name})`
  return `"${key}": ${isRequired ? `iso_time(${name})` : `None if ${name} is None else iso_time(${name})`}`
}

/** The type of a value without null. `place` names the class of an object without a name of its own. */
function typeText(given: Schema, place: string): string {
  const schema = resolve(given)
  const name = names.get(typeOf(schema))
  if (name !== undefined) return `models.${name}`
  const { type: types, enum: values, properties, items } = schema
  const [type, ...others] = [types].flat().filter((each) => each !== 'null')
  if (others.length > 0)
    return `Union[${[type, ...others].map((each) => typeText({ type: each } as Schema, place)).join(', ')}]`
  if (values !== undefined) return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
  if (properties !== undefined) return `models.${place}`
  if (type === 'array') return `Sequence[${typeText(items ?? {}, `${place}Item`)}]`
  const simple: Record<string, string> = {
    object: 'Mapping[str, Any]',
    integer: 'int',
    number: 'float',
    string: 'str',
    boolean: 'bool',
  }
  return simple[type ?? ''] as string
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
