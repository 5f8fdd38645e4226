import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { eventsInJson, spansInJson } from '../../src/http/otlp/json.ts'
import { eventsIn, spansIn } from '../../src/http/otlp/protobuf.ts'
import { MalformedError, TooManyPartsError } from '../../src/http/otlp/wire.ts'

function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = []
  let left = bytes.length
  for (; left >= 0x80; left >>>= 7) length.push((left & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, left]), bytes])
}

const text = (number: number, value: string) => field(number, Buffer.from(value))
const attribute = (key: string, value: Buffer) => field(9, Buffer.concat([text(1, key), field(2, value)]))
const request = (...parts: Buffer[]) => field(1, field(2, field(2, Buffer.concat(parts))))

function wrap(inner: unknown, [name, isList]: [string, boolean]): unknown {
  return { [name]: isList ? [inner] : inner }
}

test('of a span with thousands of attributes, or with values of any depth, only what is used is kept', () => {
  const name = attribute('gen_ai.prompt.name', text(1, 'support'))
  const thousands = Buffer.concat(Array(20_000).fill(attribute('a.b', text(1, ''))))
  let deep = text(1, 'bottom')
  for (let level = 0; level < 2_000; level++) deep = field(5, field(1, deep))
  const nested = attribute('gen_ai.response.id', deep)
  const [span, ...others] = spansIn(request(thousands, nested, name))
  assert.equal(others.length, 0)
  assert.deepEqual([...(span?.attributes ?? [])], [['gen_ai.prompt.name', 'support']])
})

test('a body of millions of parts is rejected before it is read, however small it is when compressed', () => {
  const none = Buffer.alloc(0)
  const many = (part: Buffer) => Buffer.alloc(4_000_000, part)
  const bodies: Record<string, Buffer> = {
    resources: many(field(1, none)),
    'attributes of a resource': field(1, field(1, many(field(1, none)))),
    scopes: field(1, many(field(2, none))),
    spans: field(1, field(2, many(field(2, none)))),
    'attributes of a span': request(many(field(9, none))),
    'values of an attribute': request(field(9, Buffer.concat([text(1, 'prompt.id'), many(field(2, none))]))),
    events: request(many(field(11, none))),
    'unknown fields': many(field(15, none)),
  }
  for (const [name, body] of Object.entries(bodies)) {
    assert.throws(() => [...spansIn(body)].length, TooManyPartsError, name)
  }
  const spans = Array(100_001).fill({})
  assert.throws(() => [...spansInJson({ resourceSpans: [{ scopeSpans: [{ spans }] }] })].length, TooManyPartsError)
})

test('the resource applies to its spans also if it comes after them', () => {
  const model = attribute('gen_ai.request.model', text(1, 'large-2'))
  const resource = field(1, field(1, Buffer.concat([text(1, 'promptledger.prompt'), field(2, text(1, 'support'))])))
  const [span] = spansIn(field(1, Buffer.concat([field(2, field(2, model)), resource])))
  assert.equal(span?.resource.get('promptledger.prompt'), 'support')
})

test('any bytes and any JSON are read or rejected as malformed, and nothing else happens', () => {
  const readers = [spansIn, eventsIn]
  const valid = request(attribute('gen_ai.prompt.name', text(1, 'support')), text(1, 'x'.repeat(16)))
  const mutated = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 4 }).map((changes) => {
    const bytes = Buffer.from(valid)
    for (const [at, byte] of changes) bytes[at] = byte
    return bytes
  })
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)),
    mutated,
  )
  fc.assert(
    fc.property(bytes, (body) => {
      for (const read of readers) {
        try {
          for (const record of read(body)) assert.ok(record === null || typeof record.traceId === 'string')
        } catch (error) {
          if (!(error instanceof MalformedError)) throw error
        }
      }
    }),
    { seed: 7, numRuns: 2_000 },
  )
  const names = [
    'resourceSpans',
    'resourceLogs',
    'scopeSpans',
    'scopeLogs',
    'spans',
    'logRecords',
    'attributes',
    'key',
    'value',
  ]
  const shaped = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.boolean()), { minLength: 1, maxLength: 8 })
    .chain((path) => fc.jsonValue({ maxDepth: 1 }).map((leaf) => path.reduceRight(wrap, leaf as unknown)))
    .filter((value) => typeof value === 'object' && value !== null)
  fc.assert(
    fc.property(shaped, (body) => {
      for (const read of [spansInJson, eventsInJson])
        for (const record of read(body as object)) assert.ok(record !== undefined)
    }),
    { seed: 7, numRuns: 500 },
  )
})

// What the SDK for Python 1.45.0 encodes (opentelemetry-exporter-otlp-proto-common), recorded on 2026-11-18.
const pythonSpans = [
  'Cv8CChsKGQoMc2VydmljZS5uYW1lEgkKB3N1cHBvcnQS3wIKBQoDYXBwEtUCChDOVVO6ul4FbRnBLixzZzKuEggY40p2qqZp6SoEY2hhdDADOcLbWbzy',
  'AukYQU+CXbzyAukYSioKEmdlbl9haS5wcm9tcHQubmFtZRIUChJwcm9tcHRzL3N1cHBvcnQubWRKJQoVZ2VuX2FpLnByb21wdC52ZXJzaW9uEgwKCmFi',
  'Y2RlZjEyMzRKIgoVZ2VuX2FpLnJlc3BvbnNlLm1vZGVsEgkKB2xhcmdlLTJKIQoSZ2VuX2FpLnJlc3BvbnNlLmlkEgsKCWFuc3dlci1weUofChlnZW5f',
  'YWkudXNhZ2UuaW5wdXRfdG9rZW5zEgIYDEomCgphcHAuc2NvcmVzEhgqFgoJIQAAAAAAAOA/CgkhAAAAAAAA8D9KEAoKYXBwLmNhY2hlZBICEABaIAna',
  'YVq88gLpGBILZmlyc3QgdG9rZW4aCAoCbXMSAhh4egCFAQABAAA=',
].join('')
const pythonLogs = [
  'CocCChsKGQoMc2VydmljZS5uYW1lEgkKB3N1cHBvcnQS5wEKBQoDYXBwEt0BCYMWW7zyAukYEAkqBwoFcmF0ZWQyIgoWZ2VuX2FpLmV2YWx1YXRpb24u',
  'bmFtZRIICgZ0aHVtYnMyLAodZ2VuX2FpLmV2YWx1YXRpb24uc2NvcmUubGFiZWwSCwoJdGh1bWJzX3VwMjEKHWdlbl9haS5ldmFsdWF0aW9uLmV4cGxh',
  'bmF0aW9uEhAKDkdyw7bDn2Ugc3RpbW10RQMAAABKEM5VU7q6XgVtGcEuLHNnMq5SCBjjSnaqpmnpWSlUW7zyAukYYhhnZW5fYWkuZXZhbHVhdGlvbi5y',
  'ZXN1bHQ=',
].join('')

test('what the SDK for Python sends is read', () => {
  const ids = { traceId: 'ce5553baba5e056d19c12e2c736732ae', spanId: '18e34a76aaa669e9' }
  const [span, ...otherSpans] = spansIn(Buffer.from(pythonSpans, 'base64'))
  assert.deepEqual(otherSpans, [])
  assert.deepEqual({ traceId: span?.traceId, spanId: span?.spanId }, ids)
  assert.deepEqual(Object.fromEntries(span?.attributes ?? []), {
    'gen_ai.prompt.name': 'prompts/support.md',
    'gen_ai.prompt.version': 'abcdef1234',
    'gen_ai.response.model': 'large-2',
    'gen_ai.response.id': 'answer-py',
  })
  const [event, ...otherEvents] = eventsIn(Buffer.from(pythonLogs, 'base64'))
  assert.deepEqual(otherEvents, [])
  assert.deepEqual({ traceId: event?.traceId, spanId: event?.spanId }, ids)
  assert.deepEqual(Object.fromEntries(event?.attributes ?? []), {
    'gen_ai.evaluation.name': 'thumbs',
    'gen_ai.evaluation.score.label': 'thumbs_up',
    'gen_ai.evaluation.explanation': 'Größe stimmt',
  })
  for (const record of [span, event]) assert.equal(new Date(record?.at ?? 0).toISOString().slice(0, 10), '2026-11-18')
})

test('payloads as in the examples of the protocol are read, with IDs in capitals', () => {
  // After trace.json and logs.json in open-telemetry/opentelemetry-proto, examples (Apache-2.0), with a prompt and an evaluation added.
  const pair = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const resource = { attributes: [pair('service.name', 'my.service')] }
  const scope = {
    name: 'my.library',
    version: '1.0.0',
    attributes: [pair('my.scope.attribute', 'some scope attribute')],
  }
  const ids = { traceId: '5B8EFFF798038103D269B633813FC60C', spanId: 'EEE19B7EC3C1B174' }
  const item = { ...ids, attributes: [pair('my.span.attr', 'some value'), pair('gen_ai.prompt.name', 'support')] }
  const spans = [
    { ...item, parentSpanId: 'EEE19B7EC3C1B173', startTimeUnixNano: '1544712660000000000', kind: 2 },
    { ...ids },
  ]
  const logRecords = [
    { ...item, eventName: 'gen_ai.evaluation.result', timeUnixNano: '1544712660300000000', body: { stringValue: 'x' } },
    { ...item, severityNumber: 10, body: { kvlistValue: { values: [pair('some.map.key', 'some value')] } } },
  ]
  const read = [
    ...spansInJson({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }),
    ...eventsInJson({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] }),
  ]
  assert.deepEqual(
    read.map(
      (record) => record && [record.traceId, record.spanId, record.at, record.attributes.get('gen_ai.prompt.name')],
    ),
    [
      ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174', 1_544_712_660_000, 'support'],
      null,
      ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174', 1_544_712_660_300, 'support'],
      null,
    ],
  )
})
