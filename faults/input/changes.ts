import fc, { type Arbitrary } from 'fast-check'
import { type Draft, pathOf } from './requests.ts'
import { jsonValues, texts } from './values.ts'

type Change = (draft: Draft) => Draft

const methods = 'GET HEAD POST PUT PATCH OPTIONS TRACE PROPFIND QUERY PURGE SEARCH M-SEARCH'.split(' ')

const types = [
  ...'application/json APPLICATION/JSON application/json; application/jsonp text/plain application/xml */* / ; json'.split(
    ' ',
  ),
  ...['application/json; charset=utf-8', 'application/json; charset=utf-16', 'application/json; charset="', ''],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
]

const encoded = [
  ...'% %% %z %zz %0 %00 %c3%28 %ff %C0%AF %ed%a0%80 %f8%88%80%80%80 %u0041 %25 %252f %2e%2e%2f %2F %2f..%2f %5c'.split(
    ' ',
  ),
  ...".. . / // /. ;a=b & = + %0d%0a %0D%0AX:%20y [] * ? ?? # #a?b : @ ~ ! ( ' %7f %20 %09".split(' '),
  ...'%E2%80%AE %F0%9F%98%80 %EF%BB%BF %C2%80'.split(' '),
]

/** One character for each byte of the text. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function percent(text: string, all = false): string {
  return bytesOf(text).replaceAll(all ? /[\s\S]/g : /[^\w.~-]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

/** Texts as a part of an address. No small numbers, which could be the key that all of this is done with. */
export const segments: Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: texts.map((text) => percent(text)) },
    { weight: 1, arbitrary: texts.map((text) => percent(text, true).toUpperCase()) },
    { weight: 1, arbitrary: texts.map((text) => percent(percent(text))) },
    { weight: 1, arbitrary: texts.map(raw) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.constantFrom(...encoded, 'a', 'pmt_'), { minLength: 1, maxLength: 4 })
        .map((parts) => parts.join('')),
    },
  )
  .filter((text) => !/^(%3\d|\d){1,5}$/i.test(text))

/** What the line of a request can hold without being encoded. */
function raw(text: string): string {
  return bytesOf(text).replaceAll(/[\0-\x20\x7f]/g, '')
}

const headerValues = texts.map((text) => bytesOf(text).replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''))

/** One thing that is not as it should be. */
export function changes(): Arbitrary<Change> {
  const body = (arbitrary: Arbitrary<(text: string) => string | Buffer>): Arbitrary<Change> =>
    arbitrary.map((change) => (draft) => {
      const changed = change(draft.body?.toString() ?? '{}')
      return { ...draft, body: typeof changed === 'string' ? Buffer.from(changed) : changed }
    })
  const header = (name: string, values: Arbitrary<string>): Arbitrary<Change> =>
    values.map((value) => (draft) => ({
      ...draft,
      headers: [...draft.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()), [name, value]],
    }))
  return fc.oneof(
    { weight: 10, arbitrary: body(members()) },
    { weight: 5, arbitrary: body(bodyTexts()) },
    { weight: 6, arbitrary: queries() },
    {
      weight: 5,
      arbitrary: fc.tuple(fc.nat(), segments).map(
        ([place, segment]): Change =>
          (draft) =>
            inPath(draft, place, segment),
      ),
    },
    {
      weight: 2,
      arbitrary: segments.map(
        (segment): Change =>
          (draft) => ({ ...draft, path: `/${segment}` }),
      ),
    },
    { weight: 2, arbitrary: paths() },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...methods).map(
        (method): Change =>
          (draft) => ({ ...draft, method }),
      ),
    },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom<Draft['who']>('revoked', 'expired', 'nobody', 'ingest', 'standard', 'scarce', 'session')
        .map(
          (who): Change =>
            (draft) => ({ ...draft, who }),
        ),
    },
    {
      weight: 2,
      arbitrary: header(
        'Authorization',
        fc.oneof(
          headerValues,
          headerValues.map((text) => `Bearer ${text}`),
          fc.constantFrom('Bearer', 'Basic YTpi', 'Bearer plk_a', `Bearer plk_${'0'.repeat(49)}`),
        ),
      ),
    },
    {
      weight: 2,
      arbitrary: header(
        'Cookie',
        fc.oneof(
          headerValues,
          headerValues.map((text) => `promptledger_session=${text}`),
        ),
      ),
    },
    { weight: 3, arbitrary: header('Content-Type', fc.oneof(fc.constantFrom(...types), headerValues)) },
    {
      weight: 2,
      arbitrary: header('Idempotency-Key', fc.oneof(headerValues, fc.constantFrom('x'.repeat(256), 'a b'))),
    },
    {
      weight: 1,
      arbitrary: header('Accept', fc.oneof(headerValues, fc.constantFrom('text/html', 'image/*;q=0', '*/*;q=2', ','))),
    },
    {
      weight: 1,
      arbitrary: header(
        'Accept-Encoding',
        fc.oneof(headerValues, fc.constantFrom('gzip', 'br;q=x', '*;q=0', 'identity;q=0')),
      ),
    },
    { weight: 1, arbitrary: header('Content-Encoding', fc.constantFrom('gzip', 'br', 'deflate', 'x')) },
    { weight: 1, arbitrary: header('X-Request-Id', headerValues) },
    { weight: 1, arbitrary: header('If-None-Match', fc.oneof(headerValues, fc.constant('*'))) },
    {
      weight: 1,
      arbitrary: header('Origin', fc.oneof(headerValues, fc.constantFrom('null', 'http://evil.example', 'http://['))),
    },
    { weight: 1, arbitrary: header('Sec-Fetch-Site', fc.constantFrom('cross-site', 'none', 'same-origin', '?')) },
    { weight: 1, arbitrary: header('X-Gitea-Signature', headerValues) },
    { weight: 1, arbitrary: header('X-Http-Method-Override', fc.constantFrom('DELETE', 'x')) },
  )
}

function inPath(draft: Draft, place: number, segment: string): Draft {
  const names = Object.keys(draft.parameters)
  const name = draft.documented.path.match(/\{(\w+)\}/g)?.[place % 2]?.slice(1, -1) ?? names[place % names.length]
  return name === undefined ? draft : { ...draft, parameters: { ...draft.parameters, [name]: segment } }
}

function paths(): Arbitrary<Change> {
  const ways: ((path: string) => string)[] = [
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
  return fc.constantFrom(...ways).map((way) => (draft) => ({ ...draft, path: way(draft.path ?? pathOf(draft)) }))
}

function queries(): Arbitrary<Change> {
  const names = [
    'page',
    'limit',
    'since',
    'until',
    'value',
    'q',
    'sort',
    'at',
    'from',
    'to',
    'interval',
    'action',
    'format',
  ]
  const values = fc.oneof(segments, texts.map(raw), fc.integer().map(String))
  const name = fc.oneof(fc.constantFrom(...names), segments)
  return fc
    .array(fc.tuple(name, values, fc.constantFrom('&', '&&', ';', '&')), { minLength: 1, maxLength: 3 })
    .map((added) => (draft) => ({
      ...draft,
      query: added.reduce((query, [name, value, mark]) => `${query}${mark}${name}=${value}`, draft.query),
    }))
}

/** One member is missing, another or one more. */
function members(): Arbitrary<(text: string) => string> {
  const odd = ['__proto__', 'constructor', 'prototype', 'toString', '', 'VALUE', 'metadata', 'value', 'name']
  return fc
    .tuple(
      fc.nat(),
      fc.constantFrom('drop', 'replace', 'add', 'case', 'double', 'inside'),
      jsonValues,
      fc.oneof(fc.constantFrom(...odd), texts),
    )
    .map(([place, way, value, name]) => (text) => {
      const members = entriesOf(text)
      const at = members.length === 0 ? 0 : place % members.length
      const [key = name, old = null] = members[at] ?? []
      const others = members.filter((_, i) => i !== at)
      const changed: Record<string, [string, unknown][]> = {
        drop: others,
        // No address but ours: whatever stands there is not one that leads anywhere.
        replace: [...others, [key, value]],
        add: [...members, [name, value]],
        case: [...others, [key.toUpperCase(), old], [key, typeof old === 'string' ? old.toUpperCase() : old]],
        double: [...members, [key, value], [key, old]],
        inside: [...others, [key, { ...(typeof old === 'object' ? old : {}), [name]: value }]],
      }
      return `{${changed[way]?.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
    })
}

function entriesOf(text: string): [string, unknown][] {
  // What is deep can be read, but not be written again.
  if (text.length > 10_000) return []
  try {
    return Object.entries(JSON.parse(text))
  } catch {
    return []
  }
}

/** What is no JSON, or JSON of another kind. */
function bodyTexts(): Arbitrary<(text: string) => string | Buffer> {
  return fc.oneof(
    fc.constantFrom<(text: string) => string | Buffer>(
      () => '',
      () => ' ',
      () => 'null',
      () => '[]',
      () => '"positive"',
      () => '{',
      () => '{}',
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
      (text) =>
        Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(`",${text.slice(1)}`)]),
      () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
    ),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => () => Buffer.from(bytes)),
    jsonValues.map((value) => () => JSON.stringify(value)),
    texts.map((text) => () => text),
  )
}
