import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { onOneEngine } from '../../../testing/engines.ts'
import { encodings, startApplication, toProtobuf } from '../../../testing/otlp.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { removeOldTelemetry } from '../../src/domain/telemetry/retention.ts'
import { day, hour, hourStart, isoTime } from '../../src/domain/time.ts'

type Attributes = Record<string, string | number | boolean>

const traceId = '5b8efff798038103d269b633813fc60c'
const spanId = 'eee19b7ec3c1b174'

function pairs(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => {
    if (typeof value === 'number') return { key, value: { doubleValue: value } }
    return { key, value: typeof value === 'string' ? { stringValue: value } : { boolValue: value } }
  })
}

onOneEngine('OpenTelemetry', (engine) => {
  const service = useService(engine)
  let address = ''
  before(async () => {
    // The SDK has a clock of its own.
    service.now = Date.now()
    address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  })

  const nanoseconds = (at = service.now) => `${at}000000`

  function event(attributes: Attributes, { trace = '', span = '', at = service.now } = {}) {
    const eventName = 'gen_ai.evaluation.result'
    return { eventName, timeUnixNano: nanoseconds(at), traceId: trace, spanId: span, attributes: pairs(attributes) }
  }

  function span(attributes: Attributes, { trace = traceId, id = spanId, at = service.now, events = [{}] } = {}) {
    const startTimeUnixNano = nanoseconds(at)
    return { traceId: trace, spanId: id, name: 'chat', startTimeUnixNano, attributes: pairs(attributes), events }
  }

  function post(tenant: Pick<Tenant, 'headers'>, path: string, body: object | Buffer, headers = {}) {
    return service.app.inject({
      method: 'POST',
      url: path,
      headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
      payload: Buffer.isBuffer(body) ? body : JSON.stringify(body),
    })
  }

  const sendLogs = (tenant: Tenant, logRecords: object[], resource: Attributes = {}) =>
    post(tenant, '/v1/logs', {
      resourceLogs: [{ resource: { attributes: pairs(resource) }, scopeLogs: [{ logRecords }] }],
    })
  const sendSpans = (tenant: Tenant, spans: object[]) =>
    post(tenant, '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })

  async function votesOf({ prompt }: Tenant) {
    const filter = { value: null, since: null, until: null }
    return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
  }

  async function scoresOf({ prompt }: Tenant) {
    return queryRows(
      service.url,
      `select name, version, hour, positive, negative from evaluation_hours where prompt_id = ${prompt.id} order by name, version`,
    )
  }

  async function exposuresOf({ prompt }: Tenant) {
    const rows = await queryRows(
      service.url,
      `select version, model, calls from exposure_hours where prompt_id = ${prompt.id} order by version, model`,
    )
    return rows.map(({ version, model, calls }) => `${version} ${model} ${calls}`)
  }

  async function outcomesOf(tenant: Tenant): Promise<Record<string, number>> {
    const response = await service.app.inject({ url: '/api/v1/telemetry', headers: tenant.headers })
    const { outcomes } = response.json().data
    return Object.fromEntries(
      outcomes.map(({ kind, outcome, detail, records }: Record<string, string>) => [
        [kind, outcome, detail].filter(Boolean).join(' '),
        records,
      ]),
    )
  }

  for (const encoding of encodings) {
    for (const compression of ['none', 'gzip'] as const) {
      test(`the official SDK records thumbs, and its spans say which version they are about (${encoding}, ${compression})`, async () => {
        const tenant = await service.tenant()
        const { name } = tenant.prompt
        const application = startApplication(address, tenant.key, encoding, compression)
        const commit = 'abcdef1234'
        const { parent, traceId: trace } = application.call({
          'gen_ai.prompt.name': name,
          'gen_ai.prompt.version': commit,
          'gen_ai.response.model': 'large-2',
          'gen_ai.response.id': `answer-${encoding}`,
        })
        await application.sendSpans()
        application.evaluate(
          {
            'gen_ai.evaluation.name': 'thumbs',
            'gen_ai.evaluation.score.label': 'thumbs_up',
            'gen_ai.evaluation.explanation': 'Short and clear',
          },
          parent,
        )
        await application.stop()
        const [vote, ...others] = await votesOf(tenant)
        assert.equal(others.length, 0)
        const { value, version, comment, traceId, subject } = vote ?? {}
        assert.deepEqual([value, version, comment, traceId], ['positive', commit, 'Short and clear', trace])
        assert.match(subject ?? '', new RegExp(`^${trace}:[0-9a-f]{16}$`))
        assert.deepEqual(JSON.parse(vote?.metadata ?? '{}'), {
          'gen_ai.evaluation.name': 'thumbs',
          'gen_ai.evaluation.score.label': 'thumbs_up',
          'gen_ai.response.model': 'large-2',
        })
        assert.deepEqual(await exposuresOf(tenant), [`${commit} large-2 1`])
        assert.deepEqual(await outcomesOf(tenant), { 'logs recorded': 1, 'spans recorded': 1 })
      })
    }
  }

  test('scores of a judge are in no sum of votes, but in one of their own, and count towards the limit', async () => {
    const tenant = await service.tenant()
    const at = service.now - 2 * hour
    const rules = [{ name: 'Relevance', source: null, threshold: 4 }]
    await service.store.telemetry.setRules(tenant.organisation.id, rules, service.now, operator)
    const about = { 'gen_ai.prompt.name': tenant.prompt.publicId, 'gen_ai.prompt.version': 'abcdef1' }
    const relevance = { ...about, 'gen_ai.evaluation.name': 'Relevance' }
    const response = await sendLogs(tenant, [
      event({ ...relevance, 'gen_ai.evaluation.score.value': 4.5 }, { at }),
      event({ ...relevance, 'gen_ai.evaluation.score.value': 1 }, { at }),
      event({ ...about, 'gen_ai.evaluation.name': 'Tests', 'gen_ai.evaluation.score.label': 'pass' }, { at }),
    ])
    assert.deepEqual([response.statusCode, response.body], [200, '{}'])
    assert.deepEqual(
      (await scoresOf(tenant)).map(({ name, version, hour, positive, negative }) => [
        ...[name, version, Number(hour), Number(positive), Number(negative)],
      ]),
      [
        ['Relevance', 'abcdef1', hourStart(at), 1, 1],
        ['Tests', 'abcdef1', hourStart(at), 1, 0],
      ],
    )
    assert.deepEqual(await votesOf(tenant), [])
    const { start } = await service.store.signals.hourlySums(tenant.prompt, service.now + hour)
    assert.deepEqual(start, [])
    assert.equal(await tenant.used(), 3)
  })

  test('people and judges are told apart by the event, then by the rule of its name, then by thumbs', async () => {
    const tenant = await service.tenant()
    const rules = [{ name: 'Survey', source: 'people' as const, threshold: 0.5 }]
    await service.store.telemetry.setRules(tenant.organisation.id, rules, service.now, operator)
    const named = (name: string, more: Attributes) =>
      event({
        'gen_ai.prompt.name': tenant.prompt.name,
        'gen_ai.evaluation.name': name,
        'gen_ai.response.id': JSON.stringify(more),
        ...more,
      })
    await sendLogs(tenant, [
      named('Survey', { 'gen_ai.evaluation.score.value': 0.2 }),
      named('Survey', { 'gen_ai.evaluation.score.value': 0.7, 'promptledger.source': 'judge' }),
      named('Other', { 'gen_ai.evaluation.score.label': 'correct', 'promptledger.source': 'people' }),
      named('Other', { 'gen_ai.evaluation.score.label': 'Thumbs-Down' }),
      named('Other', { 'gen_ai.evaluation.score.label': 'incorrect' }),
    ])
    assert.deepEqual((await votesOf(tenant)).map(({ value }) => value).sort(), ['negative', 'negative', 'positive'])
    const scores = (await scoresOf(tenant)).map(({ name, positive, negative }) => `${name} ${positive} ${negative}`)
    assert.deepEqual(scores, ['Other 0 1', 'Survey 1 0'])
  })

  test('a record that was sent before is not counted again, whether it is a vote, a score or a span', async () => {
    const tenant = await service.tenant()
    const about = { 'gen_ai.prompt.name': tenant.prompt.name }
    const records = [
      event({ ...about, 'gen_ai.evaluation.score.label': 'thumbs_up' }, { trace: traceId, span: spanId }),
      event({ ...about, 'gen_ai.evaluation.score.label': 'pass' }, { trace: traceId, span: spanId }),
    ]
    for (let i = 0; i < 2; i++) {
      await sendLogs(tenant, records)
      await sendSpans(tenant, [span(about)])
    }
    assert.equal((await votesOf(tenant)).length, 1)
    assert.equal((await scoresOf(tenant))[0]?.positive?.toString(), '1')
    assert.deepEqual(await exposuresOf(tenant), ['  1'])
    assert.equal(await tenant.used(), 2)
    const outcomes = { 'logs recorded': 2, 'logs repeated': 2, 'spans recorded': 1, 'spans repeated': 1 }
    assert.deepEqual(await outcomesOf(tenant), outcomes)
  })

  test('an event that arrives before its span waits for it, and is rejected after an hour', async () => {
    const tenant = await service.tenant()
    const [late, never] = ['1'.repeat(32), '2'.repeat(32)]
    const thumb = { 'gen_ai.evaluation.name': 'thumbs', 'gen_ai.evaluation.score.label': 'thumbs_down' }
    await sendLogs(tenant, [
      event(thumb, { trace: late, span: spanId }),
      event(thumb, { trace: never, span: spanId }),
      event({ ...thumb, 'gen_ai.response.id': 'answer-7' }),
    ])
    assert.deepEqual(await votesOf(tenant), [])
    assert.deepEqual(await outcomesOf(tenant), { 'logs waiting': 3 })
    const about = { 'gen_ai.prompt.name': tenant.prompt.name, 'gen_ai.prompt.version': 'v2' }
    await sendSpans(tenant, [
      span(about, { trace: late }),
      span({ ...about, 'gen_ai.response.id': 'answer-7' }, { trace: '3'.repeat(32) }),
    ])
    const votes = await votesOf(tenant)
    assert.deepEqual(votes.map(({ subject, version }) => [subject, version]).sort(), [
      [`${late}:${spanId}`, ':v2'],
      ['answer-7', ':v2'],
    ])
    await removeOldTelemetry(service.store.telemetry, 14, service.now + 2 * hour)
    assert.equal((await outcomesOf(tenant))['logs unknown_span'], 1)
    await sendSpans(tenant, [span(about, { trace: never })])
    assert.equal((await votesOf(tenant)).length, 2)
  })

  test('what is not known, not readable, too old or too much is rejected by record, and listed with its reason', async () => {
    const tenant = await service.tenant()
    const about = { 'gen_ai.prompt.name': tenant.prompt.name, 'gen_ai.evaluation.name': 'Quality' }
    const label = { 'gen_ai.evaluation.score.label': 'pass' }
    await tenant.fillMonth(999)
    const response = await sendLogs(tenant, [
      event({ ...about, ...label }),
      event({ ...about, ...label }, { at: service.now - 1 }),
      event({ ...about, ...label, 'gen_ai.prompt.name': 'no/such\nprompt' }),
      event({ ...about, ...label, 'gen_ai.prompt.name': 'no/such' }),
      event({ ...about, 'gen_ai.evaluation.score.label': 'meh' }),
      event({ ...about, 'gen_ai.evaluation.score.value': 3 }),
      event({ ...about, ...label }, { at: service.now - 15 * day }),
      event({ ...about, ...label }, { at: service.now + hour }),
      { body: { stringValue: 'a line of a log' } },
    ])
    assert.equal(response.statusCode, 200)
    const { rejectedLogRecords, errorMessage } = response.json().partialSuccess
    assert.equal(rejectedLogRecords, '7')
    assert.match(errorMessage, /1 × unknown_prompt "no\/such" \(no prompt of this organisation/)
    assert.deepEqual(await outcomesOf(tenant), {
      'logs recorded': 1,
      'logs over_limit': 1,
      'logs unknown_prompt Quality': 1,
      'logs unknown_prompt no/such': 1,
      'logs no_value meh': 1,
      'logs no_threshold Quality': 1,
      'logs too_old': 1,
      'logs in_future': 1,
      'logs ignored': 1,
    })
    assert.equal(await tenant.used(), 1_000)
    const other = await service.tenant()
    assert.deepEqual(await outcomesOf(other), {})
  })

  test('a text of megabytes that belongs to many records costs no more than one', async () => {
    const tenant = await service.tenant()
    const long = 'a'.repeat(1_500_000)
    const events = Array(1_000).fill(event({ 'gen_ai.evaluation.score.label': 'pass' }))
    const startedAt = performance.now()
    const ofResource = await sendLogs(tenant, events, { 'promptledger.prompt': long })
    const ofSpan = await sendSpans(tenant, [
      span({ 'gen_ai.response.id': long }, { events: events.map((each) => ({ ...each, name: each.eventName })) }),
    ])
    assert.deepEqual([ofResource.statusCode, ofSpan.statusCode], [200, 200])
    assert.ok(performance.now() - startedAt < 1_500)
    // A name that no prompt can have is none.
    assert.equal((await outcomesOf(tenant))['logs unknown_prompt unnamed'], 1_000)
  })

  test('the prompt comes from the event, else from its span, else from the resource, also by names of Langfuse and OpenInference', async () => {
    const tenant = await service.tenant()
    const { name } = tenant.prompt
    await sendSpans(tenant, [
      span({
        'langfuse.observation.prompt.name': name,
        'langfuse.observation.prompt.version': 3,
        'gen_ai.request.model': 'a',
      }),
      span(
        { 'llm.prompt_template.name': name, 'llm.prompt_template.version': 'abc1234', 'llm.model_name': 'b' },
        { id: '1'.repeat(16) },
      ),
      span(
        { 'prompt.id': tenant.prompt.publicId, 'gen_ai.request.model': 'c', 'gen_ai.response.model': 'd' },
        { id: '2'.repeat(16) },
      ),
      span({ 'http.route': '/chat' }, { id: '3'.repeat(16) }),
    ])
    assert.deepEqual(await exposuresOf(tenant), [' d 1', ':3 a 1', 'abc1234 b 1'])
    const label = { 'gen_ai.evaluation.score.label': 'thumbs_up' }
    const other = '4'.repeat(32)
    await sendLogs(
      tenant,
      [event(label, { trace: traceId, span: '1'.repeat(16) }), event(label, { trace: other, span: spanId })],
      { 'promptledger.prompt': name },
    )
    assert.deepEqual((await votesOf(tenant)).map(({ version, traceId }) => [traceId, version]).sort(), [
      [other, null],
      [traceId, 'abc1234'],
    ])
    const inSpan = { name: 'gen_ai.evaluation.result', timeUnixNano: nanoseconds(), attributes: pairs(label) }
    await sendSpans(tenant, [span({ 'gen_ai.prompt.name': name }, { trace: '5'.repeat(32), events: [inSpan] })])
    assert.equal((await votesOf(tenant)).length, 3)
  })

  test('a signal of a batch finds its prompt and version by its trace or response, without naming a prompt', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation, 'other')
    const [mixed, known] = ['6'.repeat(32), '7'.repeat(32)]
    const about = { 'gen_ai.prompt.name': tenant.prompt.name, 'gen_ai.prompt.version': 'v7' }
    await sendSpans(tenant, [
      span({ ...about, 'gen_ai.response.id': 'answer-9' }, { trace: mixed }),
      span({ ...about, 'gen_ai.prompt.name': other.name }, { trace: mixed, id: '1'.repeat(16) }),
      span(about, { trace: known }),
    ])
    const send = async (signals: object[], sender = tenant) => {
      const { data } = (await post(sender, '/api/v1/signals', { signals })).json()
      return data.map(({ status, error }: { status: number; error?: { message: string } }) => error?.message ?? status)
    }
    const [first, second, third, fourth, ...others] = await send([
      { trace_id: known, value: 'positive' },
      { response_id: 'answer-9', trace_id: mixed, value: 'negative', version: 'abcdef1', subject: 's' },
      { trace_id: mixed, value: 'positive' },
      { trace_id: '8'.repeat(32), value: 'positive' },
      { trace_id: 'no trace', value: 'positive' },
      { value: 'positive' },
      { prompt: other.name, trace_id: 5, value: 'positive' },
    ])
    assert.deepEqual([first, second], [201, 201])
    assert.match(third, /^The trace has calls of several prompts/)
    assert.match(fourth, /^No span with this trace_id or response_id/)
    assert.deepEqual(others, ['trace_id must match pattern "^[0-9a-f]{32}$"', 'prompt is required', 201])
    assert.deepEqual(
      (await votesOf(tenant)).map(({ value, version, traceId, subject }) => [value, version, traceId, subject]),
      [
        ['positive', ':v7', known, null],
        ['negative', 'abcdef1', mixed, 's'],
      ],
    )
    assert.match((await send([{ trace_id: known, value: 'positive' }], await service.tenant()))[0], /^No span/)
  })

  test('requests of the shape that the examples of the protocol have are accepted in JSON and in protobuf', async () => {
    for (const encoding of encodings) {
      const tenant = await service.tenant()
      const send = (path: string, body: Record<string, unknown>) =>
        encoding === 'json'
          ? post(tenant, path, body)
          : post(tenant, path, toProtobuf(body), { 'content-type': 'application/x-protobuf' })
      const resource = { attributes: pairs({ 'service.name': 'shop' }) }
      const scope = { name: 'shop.answers', version: '2.3.4', attributes: pairs({ 'shop.scope': 'checkout' }) }
      const ids = { traceId: 'C0FFEE00'.repeat(4), spanId: 'BEEF'.repeat(4) }
      // The examples have times and integers as numbers, though they are beyond what JavaScript holds exactly.
      const time = service.now * 1_000_000
      const attributes = [
        ...pairs({ 'gen_ai.prompt.name': tenant.prompt.name, 'shop.is_new': true, 'shop.price': 12.75 }),
        { key: 'shop.items', value: { intValue: 3 } },
        { key: 'shop.tags', value: { arrayValue: { values: [{ stringValue: 'red' }, { stringValue: 'blue' }] } } },
        { key: 'shop.address', value: { kvlistValue: { values: pairs({ city: 'Paris' }) } } },
      ]
      const span = { ...ids, parentSpanId: 'FEED'.repeat(4), name: "it's a call", kind: 2 }
      const times = { startTimeUnixNano: time, endTimeUnixNano: time + 1_000_000 }
      const spans = await send('/v1/traces', {
        resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [{ ...span, ...times, attributes }] }] }],
      })
      const log = { ...ids, timeUnixNano: time, observedTimeUnixNano: time, severityText: 'Information' }
      const rating = pairs({ 'gen_ai.evaluation.name': 'thumbs', 'gen_ai.evaluation.score.label': 'thumbs_down' })
      const logs = await send('/v1/logs', {
        resourceLogs: [
          {
            resource,
            scopeLogs: [
              {
                scope,
                logRecords: [
                  { ...log, body: { stringValue: 'A line of a log' }, attributes },
                  {
                    ...log,
                    severityNumber: 9,
                    body: { kvlistValue: { values: pairs({ url: 'https://shop.example' }) } },
                  },
                  { ...log, eventName: 'gen_ai.evaluation.result', attributes: [...attributes, ...rating] },
                ],
              },
            ],
          },
        ],
      })
      for (const { statusCode, body } of [spans, logs]) {
        assert.deepEqual([statusCode, body], [200, encoding === 'json' ? '{}' : ''])
      }
      const [vote, ...others] = await votesOf(tenant)
      assert.deepEqual([vote?.value, vote?.traceId, others], ['negative', ids.traceId.toLowerCase(), []])
      assert.deepEqual(await exposuresOf(tenant), ['  1'])
    }
  })

  test('responses have the encoding of their request, and the statuses of the protocol', async () => {
    const tenant = await service.tenant()
    const protobuf = { 'content-type': 'application/x-protobuf' }
    const statusOf = async (body: object | Buffer, headers = {}, sender: Pick<Tenant, 'headers'> = tenant) => {
      const response = await post(sender, '/v1/traces', body, headers)
      return [response.statusCode, response.headers['content-type'], response.rawPayload] as const
    }
    assert.deepEqual(await statusOf(Buffer.alloc(0), protobuf), [200, 'application/x-protobuf', Buffer.alloc(0)])
    const [malformed, type, body] = await statusOf(Buffer.from([0x0a, 0x7f, 1]), protobuf)
    assert.deepEqual([malformed, type], [400, 'application/x-protobuf'])
    assert.equal(body.subarray(0, 3).toString('hex'), '080312')
    assert.match(body.toString(), /A field ends after its message/)
    const json = async (body: object | Buffer, headers = {}, sender?: Pick<Tenant, 'headers'>) => {
      const [status, type, bytes] = await statusOf(body, headers, sender)
      return [status, type, JSON.parse(bytes.toString()).code]
    }
    const application = 'application/json'
    assert.deepEqual(await json(Buffer.from('{"resourceSpans":')), [400, application, 3])
    assert.deepEqual(await json(Buffer.alloc(4 * 1024 * 1024 + 1, ' ')), [413, application, 8])
    const names = Object.fromEntries(Array.from({ length: 1_100 }, (_, i) => [`name${i}`, 0]))
    assert.deepEqual(await json(names), [413, application, 8])
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    assert.deepEqual(await json(bomb, { 'content-encoding': 'gzip' }), [413, application, 8])
    assert.deepEqual(await json(Buffer.from('no gzip'), { 'content-encoding': 'gzip' }), [400, application, 3])
    assert.deepEqual(await json({}, { 'content-encoding': 'br' }), [415, application, 3])
    assert.deepEqual(await json(Buffer.from('a'), { 'content-type': 'text/plain' }), [415, application, 3])
    assert.deepEqual(await json({}, {}, { headers: {} }), [401, application, 16])
    assert.deepEqual(await json({}, {}, await service.tenant('free', 'reader')), [403, application, 7])
  })

  test('impact and timeline count the calls of each version, and the timeline has changes of the model if asked', async () => {
    const tenant = await service.tenant()
    const about = (version: string, model: string) => ({
      'gen_ai.prompt.name': tenant.prompt.name,
      'gen_ai.prompt.version': version,
      'gen_ai.response.model': model,
    })
    const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
    const at = hourStart(service.now) - 10 * hour
    await tenant.recordEntry({ commitSha: first, createdAt: at - 20 * hour })
    const { id } = await tenant.recordEntry({ commitSha: second, createdAt: at })
    const ids = ['1', '2', '3', '4'].map((digit) => digit.repeat(16))
    await sendSpans(tenant, [
      span(about(first, 'large-1'), { id: ids[0] as string, at: at - hour }),
      span(about(first.slice(0, 7), 'large-1'), { id: ids[1] as string, at: at - hour }),
      span(about(second, 'large-2'), { id: ids[2] as string, at: at + hour }),
      span({ 'gen_ai.prompt.name': tenant.prompt.name }, { id: ids[3] as string, at: at + 2 * hour }),
    ])
    const score = (version: string, label: string, at: number) => {
      const attributes = { ...about(version, 'm'), 'gen_ai.evaluation.score.label': label }
      return event({ ...attributes, 'gen_ai.evaluation.name': 'Tests' }, { at })
    }
    await sendLogs(tenant, [score(first, 'pass', at - hour), score(second, 'fail', at), score(second, 'pass', at + 1)])
    const get = async (path: string) =>
      (await service.app.inject({ url: `${tenant.path}${path}`, headers: tenant.headers })).json()
    const { data } = await get('/impact')
    assert.deepEqual(
      data.map(({ exposures }: { exposures: object }) => exposures),
      [
        { before: 2, after: 2 },
        { before: null, after: 2 },
      ],
    )
    const { impact } = (await get(`/timeline/${id}`)).data
    assert.deepEqual(impact.exposures, { before: 2, after: 2 })
    assert.deepEqual(impact.evaluations, [
      {
        name: 'Tests',
        before: { positive: 1, negative: 0, rate: 1 },
        after: { positive: 1, negative: 1, rate: 0.5 },
      },
    ])
    assert.deepEqual([impact.before.rate, impact.after.rate], [null, null])
    const plain = await get('/timeline')
    assert.equal('model_changes' in plain, false)
    assert.deepEqual((await get('/timeline?model_changes=true')).model_changes, [
      {
        action: 'model_changed',
        created_at: isoTime(at + hour),
        old_model: 'large-1',
        new_model: 'large-2',
        source: 'spans',
      },
    ])
    assert.deepEqual((await get(`/impact?as_of=${isoTime(at - hour)}`)).data[0].exposures, null)
  })

  test('erasing a subject also removes which prompt that response belongs to', async () => {
    const tenant = await service.tenant('free', 'admin')
    await sendSpans(tenant, [span({ 'gen_ai.prompt.name': tenant.prompt.name, 'gen_ai.response.id': 'of Mia' })])
    const links = () => service.store.telemetry.links(tenant.organisation.id, [], ['of Mia'])
    assert.equal((await links()).length, 1)
    const response = await post(tenant, '/api/v1/signals/erase', { subject: 'of Mia' })
    assert.deepEqual([response.json(), await links()], [{ data: { erased: 0 } }, []])
  })

  test('links are removed after some days, and their sums stay', async () => {
    const tenant = await service.tenant()
    await sendSpans(tenant, [span({ 'gen_ai.prompt.name': tenant.prompt.name })])
    await removeOldTelemetry(service.store.telemetry, 14, service.now + 13 * day)
    const links = () => service.store.telemetry.links(tenant.organisation.id, [traceId], [])
    assert.equal((await links()).length, 1)
    await removeOldTelemetry(service.store.telemetry, 14, service.now + 15 * day)
    assert.deepEqual(await links(), [])
    assert.deepEqual(await exposuresOf(tenant), ['  1'])
    assert.deepEqual(await outcomesOf(tenant), {})
  })
})
