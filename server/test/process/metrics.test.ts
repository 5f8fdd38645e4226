import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { onOneEngine, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { without } from '../../../testing/installed-tools.ts'
import { type RunningProcess, sampleClient, startServe } from '../../../testing/processes.ts'
import { figures } from '../../../testing/regressions.ts'
import { deployedEntry, openTestStore } from '../../../testing/service.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { createHistogram } from '../../src/metrics/histogram.ts'
import { formatMetrics } from '../../src/metrics/text-format.ts'

interface Parsed {
  types: Map<string, string>
  samples: { name: string; labels: Record<string, string>; value: number }[]
}

const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"/g
const line =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\+Inf|-Inf|NaN|-?\d[\d.e+-]*)$/

/** Parses the text format as strictly as Prometheus does: names, labels, and one block per family with HELP and TYPE first. */
function parse(text: string): Parsed {
  assert.ok(text.endsWith('\n'))
  const types = new Map<string, string>()
  const samples: Parsed['samples'] = []
  let family = ''
  for (const row of text.trimEnd().split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/.exec(row) ?? []
    if (kind === 'HELP') {
      assert.ok(!types.has(name), `${name} is declared twice`)
      family = name
    } else if (kind === 'TYPE') {
      assert.equal(name, family)
      types.set(name, rest)
    } else {
      const [, sample = '', labels = '', value = ''] = line.exec(row) ?? assert.fail(`not a sample: ${row}`)
      const own = types.get(family) === 'histogram' ? sample.replace(/_(bucket|sum|count)$/, '') : sample
      assert.equal(own, family, row)
      const pairs = [...labels.matchAll(label)].map(([, key, text]) => [key, unescaped(text as string)])
      samples.push({ name: sample, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) })
    }
  }
  return { types, samples }
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
}

/** The metrics, once they have the samples from the database: those are left out if reading them takes more than a second. */
function metricsOf(service: RunningProcess, ...alsoWith: string[]): Promise<Parsed> {
  const { metrics } = JSON.parse(service.output().stdout)
  const fromDatabase = [
    'promptledger_deliveries_pending',
    'promptledger_alert_deliveries_pending',
    'promptledger_signal_webhooks_failing',
    ...alsoWith,
  ]
  return eventually(async () => {
    const response = await fetch(metrics)
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const parsed = parse(await response.text())
    for (const name of fromDatabase) assert.notEqual(read(parsed, name), undefined, `no sample of ${name}`)
    return parsed
  })
}

function read({ samples }: Parsed, name: string, labels: Record<string, string> = {}): number | undefined {
  return samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value
}

/** What Prometheus itself would advise against: labels that it reserves, names without units. */
function assertLinted(text: string): void {
  const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
}

onOneEngine('Metrics', (engine) => {
  test('requests are counted by route and status, signals by outcome, and batches, caches and queues are reported', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0' }, ['--port', '0', '--json'])
    const sample = sampleClient(service)
    for (let i = 0; i < 3; i++) assert.equal((await sample.signal()).status, 201)
    assert.equal((await sample.signal('{"value":"maybe"}')).status, 422)
    assert.equal((await sample.history()).status, 200)
    assert.equal((await sample.timeline()).status, 200)
    await fetch(`${service.address}/api/v1/no"where\\${'x'.repeat(50)}`)
    await fetch(`${service.address}/healthz`)
    const metrics = await metricsOf(service)
    const { metrics: url } = JSON.parse(service.output().stdout)
    if (without('promtool') === false) assertLinted(await (await fetch(url)).text())

    const route = '/api/v1/prompts/:prompt_id/signals'
    const requests = 'promptledger_http_requests_total'
    assert.equal(read(metrics, requests, { route, method: 'POST', status: '201' }), 3)
    assert.equal(read(metrics, requests, { route, method: 'POST', status: '422' }), 1)
    // A route with a hook of its own.
    const timeline = '/api/v1/prompts/:prompt_id/timeline'
    assert.equal(read(metrics, requests, { route: timeline, method: 'GET', status: '200' }), 1)
    assert.equal(read(metrics, requests, { route: '/healthz', status: '200' }), 1)
    assert.equal(read(metrics, requests, { route: 'none', status: '401' }), 1)
    assert.equal(read(metrics, 'promptledger_http_request_duration_seconds_count', { route, method: 'POST' }), 4)
    assert.equal(read(metrics, 'promptledger_signals_total', { outcome: 'recorded' }), 3)
    assert.equal(read(metrics, 'promptledger_signal_batch_size_sum'), 3)
    assert.equal(read(metrics, 'promptledger_signal_batch_duration_seconds_count'), 3)
    // A key is looked up again after a body that took long to arrive, as on a busy machine.
    assert.ok((read(metrics, 'promptledger_cache_lookups_total', { cache: 'keys', result: 'hit' }) ?? 0) >= 4)
    assert.equal(read(metrics, 'promptledger_http_requests_in_flight', { kind: 'write' }), 0)
    assert.equal(read(metrics, 'promptledger_deliveries_pending'), 0)
    const name = engine.name === 'SQLite' ? 'sqlite' : 'postgres'
    assert.equal(read(metrics, 'promptledger_build_info', { engine: name }), 1)
    const idle = read(metrics, 'promptledger_database_connections', { state: 'idle' })
    assert.equal(idle !== undefined, engine.name === 'PostgreSQL')
    assert.ok((read(metrics, 'process_resident_memory_bytes') ?? 0) > 10_000_000)

    assert.equal(await service.stop(), 0)
  })

  test('open regressions are labelled with the names of organisation and prompt, whatever characters they have', async () => {
    const database = await engine.create()
    const store = await openTestStore(database.url)
    const organisation = await store.organisations.create({ name: 'Acme "\\ {x="1"} 1', plan: 'free', createdAt: 1 })
    const names = ['a"b\\c', 'plain', 'calm']
    for (const name of names) {
      const prompt = await store.prompts.create(newPrompt(organisation.id, name, 1), null)
      if (name === 'calm') continue
      const entry = await store.history.record(prompt, { ...deployedEntry(5), dedupeKey: name }, 5, null)
      await store.regressions.open(prompt, entry, figures, 6)
    }
    assert.deepEqual(
      (await store.regressions.openCounts(1)).map(({ prompt }) => prompt),
      ['a"b\\c'],
      'the number of series is limited',
    )
    await store.close()
    const service = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0', PROMPTLEDGER_FIRST_RUN: 'off' }, [
      '--port',
      '0',
      '--json',
    ])
    const metrics = await metricsOf(service, 'promptledger_regressions_open')
    await service.stop()
    const open = metrics.samples.filter(({ name }) => name === 'promptledger_regressions_open')
    assert.deepEqual(
      open.map(({ labels, value }) => [labels.organisation, labels.prompt, value]),
      [
        [organisation.name, 'a"b\\c', 1],
        [organisation.name, 'plain', 1],
      ],
    )
    assert.equal(read(metrics, 'promptledger_alert_deliveries_pending'), 0)
    assert.equal(read(metrics, 'promptledger_alert_attempts_total', { outcome: 'sent' }), 0)
  })

  test('signals over the monthly limit are counted apart from recorded ones', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0' }, ['--port', '0', '--json'])
    const sample = sampleClient(service)
    // In waves, so that a busy machine does not shed any of them as overload.
    for (let wave = 0; wave < 10; wave++) await Promise.all(Array.from({ length: 100 }, () => sample.signal()))
    const rejected = await Promise.all(Array.from({ length: 10 }, () => sample.signal()))
    assert.deepEqual(new Set(rejected.map(({ status }) => status)), new Set([429]))
    const metrics = await metricsOf(service)
    assert.equal(read(metrics, 'promptledger_signals_total', { outcome: 'over_limit' }), 10)
    assert.equal(read(metrics, 'promptledger_signals_total', { outcome: 'recorded' }), 1_000)
    await service.stop()
  })
})

describe('Metrics', () => {
  test('metrics are off by default and never served on the port of the API', async () => {
    const database = await sqlite.create()
    const service = await startServe({ DATABASE_URL: database.url }, ['--port', '0', '--json'])
    assert.equal(JSON.parse(service.output().stdout).metrics, undefined)
    assert.equal((await fetch(`${service.address}/metrics`)).status, 404)
    await service.stop()
  })

  test('the metrics page, the dashboard and the alerts name exactly the metrics that exist', async () => {
    const database = await sqlite.create()
    const service = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0' }, ['--port', '0', '--json'])
    const { types } = await metricsOf(service)
    await service.stop()
    const existing = new Set(types.keys())
    for (const file of ['metrics.md', 'grafana.json', 'alerts.yml']) {
      const text = readFileSync(new URL(`../../../docs/operations/${file}`, import.meta.url), 'utf8')
      const named = new Set(
        [...text.matchAll(/\b(promptledger_\w+|process_\w+_(?:seconds|bytes|total))\b/g)].map(([, name = '']) =>
          existing.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
        ),
      )
      for (const name of named) assert.ok(existing.has(name), `${file} names ${name}, which does not exist`)
      // Not everything is worth an alert.
      if (file !== 'alerts.yml') assert.deepEqual(existing.difference(named), new Set(), `missing in ${file}`)
    }
  })

  test('metric names follow the Prometheus conventions for units and counters', async () => {
    const database = await sqlite.create()
    const service = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0' }, ['--port', '0', '--json'])
    const { types } = await metricsOf(service)
    for (const [name, type] of types) {
      assert.match(name, /^(promptledger|process)_[a-z_]+$/)
      assert.equal(name.endsWith('_total'), type === 'counter', name)
      assert.doesNotMatch(name, /milliseconds|_ms|kilobytes|megabytes/)
    }
    await service.stop()
  })

  test('label values are escaped, so none can break out of its quotes', () => {
    const value = 'a "quoted" \\ back\nnew line'
    const text = formatMetrics([
      { name: 'x_total', type: 'counter', help: 'h\\\n', samples: [{ labels: { value }, value: 1 }] },
    ])
    assert.deepEqual(parse(text).samples, [{ name: 'x_total', labels: { value }, value: 1 }])
  })

  test('a histogram counts a value in every bucket with a bound at or above it', () => {
    const { observe, samples } = createHistogram([1, 2])
    for (const value of [0.5, 1, 1.5, 7]) observe(value)
    assert.deepEqual(
      samples().map(({ suffix, labels, value }) => [suffix, labels?.le, value]),
      [
        ['_bucket', '1', 2],
        ['_bucket', '2', 3],
        ['_bucket', '+Inf', 4],
        ['_sum', undefined, 10],
        ['_count', undefined, 4],
      ],
    )
  })
})
