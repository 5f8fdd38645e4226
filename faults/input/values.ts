import fc, { type Arbitrary } from 'fast-check'
import { type Document, resolve, type Schema } from '../../server/src/http/docs/openapi-document.ts'

const times = fc
  .date({ min: new Date('2024-01-01T00:00:00.000Z'), max: new Date('2030-01-01T00:00:00.000Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

// The units of fast-check itself take seconds to be set up.
const characters = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0x7ff }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code))

/** Text of all of Unicode, controls and what is no character among it. */
export const texts: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: characters, maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['', ' ', '\0', '\r\n', '\\', "'", '"; --', "' or 1=1", '\u202e', '\ufeff', '\ud800', '\udfff', '\0\x01'],
      ...'.. ../.. / % %% _ $1 {{7*7}} <script> =1+1 - --upload-pack=x NaN null true __proto__ constructor toString'.split(
        ' ',
      ),
      ...'0 -1 -0 01 1e3 +5000 0x1f 1.5 9007199254740993 9223372036854775808 18446744073709551616 １２３ ٣٤٥ 1e999'.split(
        ' ',
      ),
      ...'😀 é ﬃ İ 2026-02-30T00:00:00Z 2026-11-15 0000-01-01T00:00:00Z 9999-12-31T23:59:59.999Z'.split(' '),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(200, 1_001, 3_000)
      .chain((length) => fc.constantFrom('x', 'é', '0', '😀').map((c) => c.repeat(length))),
  },
)

/** Any JSON value, odd ones among them. */
export const jsonValues: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), [], {}, [[]], [null], ''),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  texts,
  fc.array(texts, { maxLength: 3 }),
  fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.constant(null)), { maxKeys: 3 }),
)

/** What metadata is like; a few users come again, so that there is something to erase. */
export const metadata: Arbitrary<object> = fc.oneof(
  fc.integer({ min: 0, max: 19 }).map((user) => ({ user: `u-${user}` })),
  fc.dictionary(texts, jsonValues, { maxKeys: 4 }),
)

// What the schema alone does not tell. No address leads to anything but a port of this machine that nobody listens on.
const known: Record<string, Arbitrary<unknown>> = {
  commit_sha: fc.stringMatching(/^[0-9a-f]{40}$/),
  email: fc.constantFrom('ada@example.com', 'a@b'),
  metadata: fc.oneof(metadata, fc.constant(null)),
  name: fc.oneof(fc.stringMatching(/^[A-Za-z]{1,12}$/), fc.constantFrom('prompts/a.md', 'é', '😀')),
  url: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('https://127.0.0.1:1/a.git', 'ssh://127.0.0.1:1/a.git') },
    {
      weight: 20,
      arbitrary: fc.constantFrom(
        ...[
          'ftp://127.0.0.1/a',
          'https:127.0.0.1/a',
          '/etc',
          'file:///etc',
          'ext::sh -c id',
          '--upload-pack=id',
          '-oProxyCommand=id',
        ],
        ...[
          'https://u:p@127.0.0.1/a',
          'ssh://-oProxyCommand=id/a',
          'https://127.0.0.1/a?b',
          'https://%2d/a',
          'git://127.0.0.1/a',
          '',
        ],
      ),
    },
  ),
}

/** Values that fit the schema. */
export function valuesOf(document: Document, given: Schema, name = ''): Arbitrary<unknown> {
  const schema = resolve<Schema>(document, given as Schema & { $ref: string })
  const { type, properties, items, anyOf } = schema
  if (known[name] !== undefined) return known[name]
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
