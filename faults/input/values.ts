import fc, { type Arbitrary } from 'fast-check'
import { type Document, resolve, type Schema } from '../../server/src/http/docs/openapi-document.ts'
import { weighted } from '../weighted.ts'

function words(text: string): string[] {
  return text.split(' ')
}

// fast-check's own Unicode units take seconds to set up.
const characters = fc
  .constantFrom(0x7f, 0x7ff, 0xffff, 0x10ffff)
  .chain((max) => fc.integer({ min: 0, max }))
  .map((code) => String.fromCodePoint(code))

const oddTexts = [
  ...['', ' ', '\0', '\r\n', '\\', "'", '"; --', "' or 1=1", '\u202e', '\ufeff', '\ud800', '\udfff', '\0\x01'],
  ...words('.. ../.. / % %% _ $1 {{7*7}} <script> =1+1 - --upload-pack=x NaN null true __proto__ constructor toString'),
  ...words('0 -1 -0 01 1e3 +5000 0x1f 1.5 9007199254740993 9223372036854775808 18446744073709551616 １２３ ٣٤٥ 1e999'),
  ...words('😀 é ﬃ İ 2026-02-30T00:00:00Z 2026-11-15 0000-01-01T00:00:00Z 9999-12-31T23:59:59.999Z'),
]

/** Text of all of Unicode, including control characters and lone surrogates. */
export const texts: Arbitrary<string> = weighted(
  [6, fc.string({ unit: characters, maxLength: 20 })],
  [2, fc.constantFrom(...oddTexts)],
  [1, fc.tuple(fc.constantFrom('x', 'é', '0', '😀'), fc.constantFrom(200, 1_001, 3_000)).map(([c, n]) => c.repeat(n))],
)

export const jsonValues: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), [], {}, [[]], [null], ''),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  texts,
  fc.array(texts, { maxLength: 3 }),
  fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.constant(null)), { maxKeys: 3 }),
)

/** A few users recur, so that erasing by user finds signals. */
const metadata: Arbitrary<object | null> = fc.oneof(
  fc.nat(19).map((user) => ({ user: `u-${user}` })),
  fc.dictionary(texts, jsonValues, { maxKeys: 4 }),
  fc.constant(null),
)

const times = fc
  .date({ min: new Date('2024-01-01T00:00:00.000Z'), max: new Date('2030-01-01T00:00:00.000Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

// No URL leads anywhere but to a local port that nothing listens on.
const urls = weighted(
  [1, fc.constantFrom('https://127.0.0.1:1/a.git', 'ssh://127.0.0.1:1/a.git')],
  [
    20,
    fc.constantFrom(
      ...words('ftp://127.0.0.1/a https:127.0.0.1/a /etc file:///etc --upload-pack=id -oProxyCommand=id https://%2d/a'),
      ...words('https://u:p@127.0.0.1/a ssh://-oProxyCommand=id/a https://127.0.0.1/a?b git://127.0.0.1/a'),
      ...['', 'ext::sh -c id'],
    ),
  ],
)

/** Members whose schema alone does not describe a valid value. */
const members: Record<string, Arbitrary<unknown>> = {
  commit_sha: fc.stringMatching(/^[0-9a-f]{40}$/),
  email: fc.constantFrom('ada@example.com', 'a@b'),
  metadata,
  name: fc.oneof(fc.stringMatching(/^[A-Za-z]{1,12}$/), fc.constantFrom('prompts/a.md', 'é', '😀')),
  url: urls,
}

/** Values that match the schema. */
export function valuesOf(document: Document, given: Schema, name = ''): Arbitrary<unknown> {
  const schema = resolve<Schema>(document, given as Schema & { $ref: string })
  const { type, properties, items, anyOf } = schema
  if (members[name] !== undefined) return members[name]
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((part) => valuesOf(document, part)))
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => valuesOf(document, { ...schema, type: one })))
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 1, max: schema.maximum ?? 50 })
    case 'array':
      return fc.array(valuesOf(document, items ?? {}), { maxLength: 3 })
    case 'string':
      return schema.format === 'date-time' ? times : fc.stringMatching(/^[\w.-]{1,30}$/)
    case 'object':
      if (properties === undefined) return fc.dictionary(texts, jsonValues, { maxKeys: 4 })
      return fc.record(
        Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, valuesOf(document, part, key)])),
        { requiredKeys: [...(schema.required ?? [])] },
      )
    default:
      return jsonValues
  }
}

/** One character for each byte of the text. */
export function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function percentEncode(text: string, all = false): string {
  return latin1(text).replaceAll(all ? /[\s\S]/g : /[^\w.~-]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

/** The text without the bytes that a request line cannot hold unencoded. */
export function unencoded(text: string): string {
  return latin1(text).replaceAll(/[\0-\x20\x7f]/g, '')
}

const encodedParts = [
  ...words('% %% %z %zz %0 %00 %c3%28 %ff %C0%AF %ed%a0%80 %f8%88%80%80%80 %u0041 %25 %252f %2e%2e%2f %2F %2f..%2f'),
  ...words(".. . / // /. ;a=b & = + %0d%0a %0D%0AX:%20y [] * ? ?? # #a?b : @ ~ ! ( ' %7f %20 %09 %5c"),
  ...words('%E2%80%AE %F0%9F%98%80 %EF%BB%BF %C2%80 a pmt_'),
]

/** Path segments, well encoded and badly. No small numbers: one could be the id of a key in use. */
export const segments: Arbitrary<string> = weighted(
  [3, texts.map((text) => percentEncode(text))],
  [1, texts.map((text) => percentEncode(text, true).toUpperCase())],
  [1, texts.map((text) => percentEncode(percentEncode(text)))],
  [1, texts.map(unencoded)],
  [2, fc.array(fc.constantFrom(...encodedParts), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))],
).filter((text) => !/^(%3\d|\d){1,5}$/i.test(text))
