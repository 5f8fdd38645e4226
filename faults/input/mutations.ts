import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../weighted.ts'
import { type Draft, pathOf } from './draft.ts'
import { jsonValues, latin1, segments, texts, unencoded } from './values.ts'

/** Introduces one mistake, or what could be one. */
export type Mutation = (draft: Draft) => Draft

const methods = 'GET HEAD POST PUT PATCH OPTIONS TRACE PROPFIND QUERY PURGE SEARCH M-SEARCH'.split(' ')
const callers: Draft['caller'][] = ['revoked', 'expired', 'anonymous', 'ingest', 'standard', 'session']
const queryNames = 'page limit since until value q sort at from to interval action format'.split(' ')
const memberNames = ['__proto__', 'constructor', 'prototype', 'toString', '', 'VALUE', 'metadata', 'value', 'name']

const contentTypes = [
  ...'application/json APPLICATION/JSON application/json; application/jsonp text/plain application/xml */* / ; json'.split(
    ' ',
  ),
  ...['application/json; charset=utf-8', 'application/json; charset=utf-16', 'application/json; charset="', ''],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
]

const headerValues = texts.map((text) => latin1(text).replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''))

function oneOf(...values: string[]): Arbitrary<string> {
  return fc.constantFrom(...values)
}

/** The values of each header, and how often they are sent. */
const headers: [weight: number, name: string, values: Arbitrary<string>][] = [
  [
    2,
    'Authorization',
    fc.oneof(
      headerValues,
      headerValues.map((text) => `Bearer ${text}`),
      oneOf('Bearer', 'Basic YTpi', 'Bearer plk_a', `Bearer plk_${'0'.repeat(49)}`),
    ),
  ],
  [
    2,
    'Cookie',
    fc.oneof(
      headerValues,
      headerValues.map((text) => `promptledger_session_0=${text}`),
    ),
  ],
  [3, 'Content-Type', fc.oneof(oneOf(...contentTypes), headerValues)],
  [2, 'Idempotency-Key', fc.oneof(headerValues, oneOf('x'.repeat(256), 'a b'))],
  [1, 'Accept', fc.oneof(headerValues, oneOf('text/html', 'image/*;q=0', '*/*;q=2', ','))],
  [1, 'Accept-Encoding', fc.oneof(headerValues, oneOf('gzip', 'br;q=x', '*;q=0', 'identity;q=0'))],
  [1, 'Content-Encoding', oneOf('gzip', 'br', 'deflate', 'x')],
  [1, 'X-Request-Id', headerValues],
  [1, 'If-None-Match', fc.oneof(headerValues, oneOf('*'))],
  [1, 'Origin', fc.oneof(headerValues, oneOf('null', 'http://evil.example', 'http://['))],
  [1, 'Sec-Fetch-Site', oneOf('cross-site', 'none', 'same-origin', '?')],
  [1, 'X-Gitea-Signature', headerValues],
  [1, 'X-Http-Method-Override', oneOf('DELETE', 'x')],
]

function setHeader(draft: Draft, name: string, value: string): Draft {
  const others = draft.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return { ...draft, headers: [...others, [name, value]] }
}

const pathMistakes: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replace('/api', '/API'),
  (path) => path.replace('/v1', '/v2'),
  (path) => path.replaceAll('/', '//'),
  (path) => path.replace('/api/v1', '/api/v1/..'),
  (path) => path.replace('/v1/', '/v1/./'),
  (path) => path.replace('s', '%73'),
  (path) => path.replace('/api/', '/api%2F'),
  (path) => `${path};x=y`,
  (path) => path.slice(0, -1),
  (path) => `${path}.json`,
  (path) => `${path}%00`,
]

function setParameter(draft: Draft, place: number, segment: string): Draft {
  const names = Object.keys(draft.parameters)
  const inPath = draft.operation.path.match(/\{(\w+)\}/g)?.[place % 2]?.slice(1, -1)
  const name = inPath ?? names[place % names.length]
  return name === undefined ? draft : { ...draft, parameters: { ...draft.parameters, [name]: segment } }
}

const addedQueries = fc.array(
  fc.tuple(
    fc.oneof(oneOf(...queryNames), segments),
    fc.oneof(segments, texts.map(unencoded), fc.integer().map(String)),
    oneOf('&', '&&', ';', '&'),
  ),
  { minLength: 1, maxLength: 3 },
)

type BodyMistake = (text: string) => string | Buffer

/** A member is missing, changed, duplicated or added. */
const memberMistakes: Arbitrary<BodyMistake> = fc
  .record({
    place: fc.nat(),
    kind: oneOf('drop', 'replace', 'add', 'case', 'duplicate', 'nest'),
    value: jsonValues,
    name: fc.oneof(oneOf(...memberNames), texts),
  })
  .map(({ place, kind, value, name }) => (text) => {
    const members = membersOf(text)
    const at = members.length === 0 ? 0 : place % members.length
    const [key = name, old = null] = members[at] ?? []
    const others = members.filter((_, i) => i !== at)
    const changed: Record<string, [string, unknown][]> = {
      drop: others,
      replace: [...others, [key, value]],
      add: [...members, [name, value]],
      case: [...others, [key.toUpperCase(), old], [key, typeof old === 'string' ? old.toUpperCase() : old]],
      duplicate: [...members, [key, value], [key, old]],
      nest: [...others, [key, { ...(typeof old === 'object' ? old : {}), [name]: value }]],
    }
    return `{${changed[kind]?.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
  })

function membersOf(text: string): [string, unknown][] {
  // Deeply nested JSON can be parsed but not serialised again.
  if (text.length > 10_000) return []
  try {
    return Object.entries(JSON.parse(text))
  } catch {
    return []
  }
}

/** Text that is not JSON, is JSON of another kind, or is too long or too deep. */
const jsonMistakes: BodyMistake[] = [
  ...['', ' ', 'null', '[]', '"positive"', '{', '{}'].map((text) => () => text),
  (text) => text.slice(0, -1),
  (text) => `${text}}`,
  (text) => `${text}\0`,
  (text) => `[${text}]`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace('{', '{"a":1e999,'),
  (text) => text.replace('{', '{"a":-0.0e-999,'),
  (text) => text.replace('{', '{"metadata":{"a":"\\ud800","\\udc00":"\\u0000"},'),
  (text) => text.replace('}', ',"metadata":{"a":"\\ud800","\\udc00":"\\u0000"}}'),
  (text) => text.replace('}', `,"metadata":${'{"a":'.repeat(63)}1${'}'.repeat(63)}}`),
  (text) => text.replace('}', `,"metadata":${'{"a":'.repeat(65)}1${'}'.repeat(65)}}`),
  (text) => text.replace('{', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)},`),
  (text) => text.replace('}', `,"metadata":{"a":"${'x'.repeat(16_400)}"}}`),
  (text) => text.replace('{', `{"a":"${'é'.repeat(30_000)}",`),
  (text) => text.replace('{', `{"a":"${'x'.repeat(66_000)}",`),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xfe, 0x7d])]),
  (text) => Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(`",${text.slice(1)}`)]),
  () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
]

const bodyMistakes: Arbitrary<BodyMistake> = fc.oneof(
  fc.constantFrom(...jsonMistakes),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => () => Buffer.from(bytes)),
  jsonValues.map((value) => () => JSON.stringify(value)),
  texts.map((text) => () => text),
)

function changeBody(mistakes: Arbitrary<BodyMistake>): Arbitrary<Mutation> {
  return mistakes.map((mistake) => (draft) => ({
    ...draft,
    body: Buffer.from(mistake(draft.body?.toString() ?? '{}') as string),
  }))
}

export const mutations: Arbitrary<Mutation> = weighted<Mutation>(
  [10, changeBody(memberMistakes)],
  [5, changeBody(bodyMistakes)],
  [
    6,
    addedQueries.map((added) => (draft) => ({
      ...draft,
      query: added.reduce((query, [name, value, separator]) => `${query}${separator}${name}=${value}`, draft.query),
    })),
  ],
  [
    5,
    fc.tuple(fc.nat(), segments).map(
      ([place, segment]) =>
        (draft) =>
          setParameter(draft, place, segment),
    ),
  ],
  [2, segments.map((segment) => (draft) => ({ ...draft, path: `/${segment}` }))],
  [
    2,
    fc
      .constantFrom(...pathMistakes)
      .map((mistake) => (draft) => ({ ...draft, path: mistake(draft.path ?? pathOf(draft)) })),
  ],
  [3, oneOf(...methods).map((method) => (draft) => ({ ...draft, method }))],
  [5, fc.constantFrom(...callers).map((caller) => (draft) => ({ ...draft, caller }))],
  ...headers.map(([weight, name, values]): [number, Arbitrary<Mutation>] => [
    weight,
    values.map((value) => (draft) => setHeader(draft, name, value)),
  ]),
)
