import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { armOf } from '../../server/src/domain/trials/assignment.ts'
import type { Trial } from '../../server/src/domain/trials/trial.ts'
import { onOneEngine } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Scenario } from '../../testing/scenario.ts'
import { withoutKeys } from '../../testing/trials.ts'
import { positionOf } from '../src/assignment.ts'
import type { PromptText } from '../src/index.ts'
import { createFolder, deliveredClient, deliveringScenario, readyClient, startTrial } from './delivering-service.ts'
import { numbersBelow, useLiveService } from './live-service.ts'

const run = promisify(execFile)
const fallback = { text: 'Fallback.\n' }
const p = 'prompts/p.md'

describe('Assignment', () => {
  test('the client gives each unit the arm that the shared vectors say', async () => {
    const vectors = JSON.parse(
      await readFile(new URL('../../examples/assignment-vectors.json', import.meta.url), 'utf8'),
    )
    for (const { trial, unit, position } of vectors) assert.equal(positionOf(trial, unit), position, unit)
    // Of lone surrogates and of texts that end anywhere in a block.
    for (const unit of ['\ud800', ...numbersBelow(150).map((length) => 'ä'.repeat(length))]) {
      assert.equal(positionOf('trl_1', unit) < 0.5, armOf('trl_1', unit, 0.5) === 'candidate')
    }
  })
})

onOneEngine('Text delivery of the client', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service
  // For tests that change neither the repository nor what is tried.
  let shared: Scenario
  before(async () => {
    shared = await deliveringScenario(service)
  })
  const documents = () => proxy.requests.filter(({ url }) => url.startsWith('/api/v1/delivery'))

  async function exposuresOf({ tenant }: Scenario, id: string) {
    const trial = await service.store.trials.find(tenant.organisation.id, id)
    return withoutKeys(await service.store.trials.exposures(trial as Trial))
  }

  test('a prompt has its live text, by ID, name and path, and one that is not delivered its fallback', async () => {
    const scenario = shared
    const { ledger, errors } = await readyClient(service, scenario)
    const id = await scenario.promptId(p)
    const version = scenario.git.head('main')
    for (const name of [id, p]) {
      const live = { text: 'Be kind.\n', version, trial: null, prompt: id }
      assert.deepEqual(await ledger.prompts.text(name, { fallback }), { ...live, unit: null })
      assert.deepEqual(await ledger.prompts.text(name, { fallback, unit: 42 }), { ...live, unit: '42' })
    }
    const unknown = { text: fallback.text, version: null, trial: null, prompt: 'unknown', unit: null }
    assert.deepEqual(await ledger.prompts.text('unknown', { fallback, unit: '' }), unknown)
    assert.equal(documents().length, 1)
    assert.deepEqual(errors, [])
  })

  test('each unit has one arm, the one that the service would choose, and counts once', async () => {
    const scenario = await deliveringScenario(service)
    const { id, head } = await startTrial(scenario, 0.3)
    const { ledger } = await readyClient(service, scenario)
    const live = scenario.git.head('main')
    const expected = { control: 0, candidate: 0 }
    for (const number of numbersBelow(200)) {
      const unit = `user-${number}`
      const arm = armOf(id, unit, 0.3)
      expected[arm]++
      for (const _ of numbersBelow(3)) {
        const { text, version, trial } = await ledger.prompts.text(p, { unit, fallback })
        assert.deepEqual(trial, { id, arm })
        assert.deepEqual([text, version], arm === 'candidate' ? ['Be very kind.\n', head] : ['Be kind.\n', live])
      }
    }
    const withoutUnit = await ledger.prompts.text(p, { fallback })
    assert.deepEqual([withoutUnit.version, withoutUnit.trial], [live, null])
    assert.equal(documents().length, 1)
    await ledger.close()
    assert.deepEqual(await exposuresOf(scenario, id), [{ share: 0.3, sources: 1, ...expected }])
  })

  test('totals whose response was lost count once when they are sent again', async (t) => {
    const scenario = await deliveringScenario(service)
    const { id } = await startTrial(scenario, 1)
    const { ledger } = await readyClient(service, scenario)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    for (const unit of ['a', 'b', 'c']) await ledger.prompts.text(p, { unit, fallback })
    const reports = () => proxy.requests.filter(({ url }) => url === '/api/v1/trials/exposures')
    proxy.fate = (_, { url }) => ({ do: url.endsWith('exposures') ? 'cut' : 'pass' })
    t.mock.timers.tick(60_000)
    await eventually(() => assert.equal(reports().length, 1))
    t.mock.timers.reset()
    await ledger.prompts.text(p, { unit: 'd', fallback })
    proxy.fate = () => ({ do: 'pass' })
    await eventually(() => assert.equal(proxy.inFlight, 0))
    await ledger.close()
    const [first, second] = reports().map(({ body }) => JSON.parse(body))
    assert.equal(first.source, second.source)
    assert.deepEqual(await exposuresOf(scenario, id), [{ share: 1, sources: 1, control: 0, candidate: 4 }])
  })

  test('after the first call, 10,000 calls cause no request, no timer and no access to files', async () => {
    const scenario = await deliveringScenario(service)
    await startTrial(scenario, 0.5)
    const { ledger } = await readyClient(service, scenario)
    await ledger.prompts.text(p, { unit: 'first', fallback })
    // The copy on disk is being written.
    await eventually(() => assert.equal(proxy.inFlight, 0))
    const created: string[] = []
    let promises = 0
    const hook = createHook({
      init(_id, type) {
        if (type === 'PROMISE') promises++
        else created.push(type)
      },
    })
    await new Promise(setImmediate)
    hook.enable()
    for (const number of numbersBelow(10_000)) await ledger.prompts.text(p, { unit: `user-${number}`, fallback })
    hook.disable()
    const ofDisk = created.filter((type) => !type.startsWith('FS') && !type.startsWith('FILE'))
    assert.deepEqual(ofDisk, [])
    assert.ok(promises <= 40_000, `${promises} promises`)
    assert.equal(documents().length, 1)
  })

  test('a merge reaches the client with the next request, and an unchanged document is not sent again', async () => {
    const scenario = await deliveringScenario(service)
    const { ledger } = await readyClient(service, scenario, { refreshInterval: 50 })
    assert.equal((await ledger.prompts.text(p, { fallback })).text, 'Be kind.\n')
    await eventually(() => assert.ok(documents().length > 2))
    const [first, second] = documents()
    assert.equal(first?.headers['if-none-match'], undefined)
    assert.match(String(second?.headers['if-none-match']), /".+"/)
    scenario.git.commit('Change', { [p]: 'New.\n' })
    service.now += 60_000
    await scenario.push()
    await service.storeLiveTexts()
    await eventually(async () => assert.equal((await ledger.prompts.text(p, { fallback })).text, 'New.\n'))
  })

  test('the first call waits for a service that is slow no longer than for the copy on disk, or the fallback', async () => {
    const scenario = shared
    const first = await readyClient(service, scenario)
    await first.ledger.prompts.text(p, { fallback })
    // Not the temporary file that becomes the copy.
    await eventually(async () => assert.match((await readdir(first.folder))[0] ?? '', /^[0-9a-f]{64}\.json$/))
    const path = join(first.folder, (await readdir(first.folder))[0] as string)
    await utimes(path, 0, 0)

    // Requests that are never passed on: a call that waited for them would never return.
    const second = await deliveredClient(service, scenario, { folder: first.folder })
    proxy.fate = () => ({ do: 'hold' })
    assert.equal((await second.ledger.prompts.text(p, { fallback })).text, 'Be kind.\n')
    const third = await deliveredClient(service, scenario)
    proxy.fate = () => ({ do: 'hold' })
    const found = await third.ledger.prompts.text(p, { fallback, unit: 'u' })
    assert.deepEqual(found, { ...fallback, version: null, trial: null, prompt: p, unit: 'u' })
    assert.deepEqual([...second.errors, ...third.errors], [])
    proxy.reset()
    await eventually(async () => assert.notEqual((await third.ledger.prompts.text(p, { fallback })).version, null))
  })

  test('an old copy on disk gives way to the service, and a new one is used without waiting', async (t) => {
    const scenario = shared
    const { ledger, folder } = await readyClient(service, scenario)
    await ledger.prompts.text(p, { fallback })
    await eventually(async () => assert.match((await readdir(folder))[0] ?? '', /^[0-9a-f]{64}\.json$/))
    const path = join(folder, (await readdir(folder))[0] as string)
    const copy = JSON.parse(await readFile(path, 'utf8'))
    for (const prompt of copy.document.prompts) prompt.text = 'Stale.\n'
    const changed = JSON.stringify({ ...copy, etag: null })
    const restarted = async () => {
      const { ledger } = await deliveredClient(service, scenario, { folder })
      return (await ledger.prompts.text(p, { fallback })).text
    }
    await writeFile(path, changed)
    assert.equal(await restarted(), 'Stale.\n')
    await eventually(() => assert.equal(proxy.inFlight, 0))
    await writeFile(path, changed)
    // As if the machine was never busy.
    const { setTimeout: real } = globalThis
    t.mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs: number, ...args: []) =>
      real(callback, delayMs === 200 ? 60_000 : delayMs, ...args),
    )
    await utimes(path, 0, 0)
    assert.equal(await restarted(), 'Be kind.\n')
  })

  test('only the owner can read the copy, and what is no copy is reported and replaced', async () => {
    const scenario = shared
    const folder = join(await createFolder(), 'texts')
    const { ledger } = await readyClient(service, scenario, { folder })
    await ledger.prompts.text(p, { fallback })
    const only = () => readdir(folder).then(([name = '']) => join(folder, name))
    await eventually(async () => assert.match(await only(), /json$/))
    assert.equal((await stat(await only())).mode & 0o777, 0o600)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    assert.ok(!(await only()).includes(scenario.tenant.key))
    for (const broken of ['', '{', 'null', '{"document":{}}', '[]']) {
      await writeFile(await only(), broken)
      const next = await readyClient(service, scenario, { folder })
      assert.equal((await next.ledger.prompts.text(p, { fallback })).text, 'Be kind.\n')
      assert.equal(next.errors.length, 1, broken)
      await eventually(async () => assert.match(await readFile(await only(), 'utf8'), /Be kind/))
    }
    await chmod(folder, 0o500)
    const stuck = await readyClient(service, scenario, { folder: join(folder, 'x') })
    assert.equal((await stuck.ledger.prompts.text(p, { fallback })).text, 'Be kind.\n')
    if (process.getuid?.() !== 0) await eventually(() => assert.match(stuck.errors[0] ?? '', /EACCES/))
    await chmod(folder, 0o700)
  })

  test('clients that write one copy at the same time leave a whole one, and no other file', async () => {
    const scenario = shared
    const folder = await createFolder()
    const clients = await Promise.all(
      numbersBelow(4).map(() => deliveredClient(service, scenario, { folder, refreshInterval: 20 })),
    )
    // Without an ETag, each response is written.
    proxy.fate = (index) => {
      const prompts = [{ id: 'x', name: 'n', path: p, version: 'v', text: `${index} `.repeat(20_000), trial: null }]
      const body = JSON.stringify({ data: { refresh_seconds: 1, prompts } })
      return { do: 'respond', status: 200, body }
    }
    await Promise.all(clients.map(({ ledger }) => ledger.prompts.text(p, { fallback })))
    for (const _ of numbersBelow(50)) {
      const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.json'))
      if (name !== '') JSON.parse(await readFile(join(folder, name), 'utf8'))
      await new Promise(setImmediate)
    }
    await Promise.all(clients.map(({ ledger }) => ledger.close()))
    await eventually(async () => assert.equal((await readdir(folder)).length, 1))
    assert.deepEqual(
      clients.flatMap(({ errors }) => errors),
      [],
    )
  })

  test('clients with other keys, services or patterns have copies of their own', async () => {
    const [scenario, other] = [shared, await deliveringScenario(service)]
    const { ledger, folder } = await readyClient(service, scenario)
    await ledger.prompts.text(p, { fallback })
    for (const [who, options] of [
      [other, {}],
      [scenario, { prompts: '**/q.md' }],
    ] as const) {
      const next = await deliveredClient(service, who, { folder, ...options })
      proxy.fate = () => ({ do: 'refuse' })
      assert.equal((await next.ledger.prompts.text(p, { fallback })).text, fallback.text)
    }
    const limited = await readyClient(service, scenario, { prompts: '**/q.md' })
    assert.equal((await limited.ledger.prompts.text(p, { fallback })).version, null)
    assert.equal((await limited.ledger.prompts.text('prompts/q.md', { fallback })).text, 'Be brief.\n')
  })

  test('a problem is reported once, and again when it comes back', async () => {
    const scenario = shared
    const off = await service.tenant()
    const wrong = await deliveredClient(service, scenario, { refreshInterval: 10 }, { apiKey: off.key })
    assert.equal((await wrong.ledger.prompts.text(p, { fallback })).text, fallback.text)
    await eventually(() => assert.ok(documents().length > 3))
    assert.equal(wrong.errors.length, 1)
    assert.match(wrong.errors[0] ?? '', /^ConflictError: Text delivery is off/)
    await wrong.ledger.close()

    const { ledger, errors } = await deliveredClient(service, scenario, { refreshInterval: 10 })
    await ledger.prompts.text(p, { fallback: '/nowhere/fallback.md' })
    await eventually(() => assert.match(errors[0] ?? '', /ENOENT.*fallback\.md/))
    for (const count of [2, 3]) {
      proxy.fate = () => ({ do: 'refuse' })
      await eventually(() => assert.equal(errors.length, count))
      const failed = documents().length
      await eventually(() => assert.ok(documents().length > failed))
      assert.equal(errors.length, count)
      proxy.reset()
      await eventually(() => assert.ok(documents().length > 1))
    }
    assert.equal((await ledger.prompts.text('unknown', { fallback: '/nowhere/fallback.md' })).text, '')
  })

  test('the fallback can be a file, and an onError that throws disturbs nothing', async () => {
    const scenario = shared
    const path = join(await createFolder(), 'fallback.md')
    await writeFile(path, 'From a file.\n')
    const onError = () => {
      throw new Error('from the application')
    }
    const { ledger } = await deliveredClient(service, scenario, { onError })
    proxy.fate = () => ({ do: 'refuse' })
    assert.equal((await ledger.prompts.text(p, { fallback: path })).text, 'From a file.\n')
  })

  test('a call never fails, whatever it is passed', async () => {
    const scenario = shared
    const { ledger } = await readyClient(service, scenario)
    const unnamable = {
      toString() {
        throw new Error('from the application')
      },
    }
    const text = ledger.prompts.text as (...args: unknown[]) => Promise<PromptText>
    for (const options of [undefined, null, {}, { unit: unnamable }, { unit: Symbol('u') }, { fallback: 7 }, 'x', 7]) {
      assert.equal((await text(p, options)).text, 'Be kind.\n')
      assert.equal((await text('unknown', options)).text, '')
    }
    for (const prompt of [undefined, null, 7, {}]) assert.equal((await text(prompt, { fallback })).text, fallback.text)
  })

  test('a request without a response is not the last, also without a timeout', async (t) => {
    const scenario = shared
    let requests = 0
    const hanging = (_url: unknown, { signal }: RequestInit) => {
      requests++
      return new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    const options = { timeout: Number.POSITIVE_INFINITY, fetch: hanging as typeof fetch }
    const { ledger } = await deliveredClient(service, scenario, {}, options)
    const { setTimeout: real } = globalThis
    // Time passes faster.
    t.mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs: number) => real(callback, delayMs / 1_000))
    assert.equal((await ledger.prompts.text(p, { fallback })).text, fallback.text)
    await eventually(() => assert.ok(requests > 2))
  })

  test('an interval that no timer can have does not make the client ask all the time', async (t) => {
    const scenario = shared
    const { setTimeout: real } = globalThis
    for (const refreshInterval of [Number.NaN, -1, 0, Number.POSITIVE_INFINITY, 2 ** 40]) {
      const delays: number[] = []
      const mocked = t.mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs: number, ...args: []) => {
        delays.push(delayMs)
        return real(callback, delayMs, ...args)
      })
      const next = await deliveredClient(service, scenario, { refreshInterval })
      await next.ledger.prompts.text(p, { fallback })
      const interval = () => delays.find((delayMs) => delayMs > 10_001 && delayMs !== 30_000)
      // Without a timer of its own.
      while (interval() === undefined) await new Promise((resolve) => setImmediate(resolve))
      assert.ok((interval() as number) < 2 ** 31)
      assert.ok(!delays.some((delayMs) => !(delayMs > 0)), String(delays))
      mocked.mock.restore()
    }
  })

  test('the document is fetched with Brotli', async () => {
    const scenario = shared
    await readyClient(service, scenario)
    assert.equal(documents()[0]?.headers['accept-encoding'], 'br, gzip')
  })

  test('a service that asks for a pause gets one', async (t) => {
    const scenario = shared
    const { ledger } = await deliveredClient(service, scenario)
    const delays: number[] = []
    const { setTimeout: real } = globalThis
    t.mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs: number, ...args: []) => {
      delays.push(delayMs)
      return real(callback, delayMs, ...args)
    })
    proxy.fate = () => ({ do: 'respond', status: 503, headers: { 'Retry-After': '120' } })
    await ledger.prompts.text(p, { fallback })
    await eventually(() => assert.ok(delays.includes(120_000), String(delays)))
  })

  test('a vote on a text names its version and its unit, directly and through a queue', async () => {
    const scenario = await deliveringScenario(service)
    await startTrial(scenario, 1)
    const { ledger } = await readyClient(service, scenario)
    const [first, second] = await Promise.all(
      ['user-1', 'user-2'].map((unit) => ledger.prompts.text(p, { unit, fallback })),
    )
    assert.ok(first && second)
    await ledger.signals.create(first, { value: 'positive' })
    const queue = ledger.signals.queue()
    queue.add(second, { value: 'negative', voter: 'user-3' })
    await queue.close()
    const signals = await Array.fromAsync(ledger.signals.export(p))
    assert.deepEqual(
      signals.map(({ value, version }) => [value, version]),
      [
        ['positive', first.version],
        ['negative', first.version],
      ],
    )
    assert.equal((await ledger.signals.previewErasure({ voter: 'user-1' })).matching, 1)
    assert.equal((await ledger.signals.previewErasure({ voter: 'user-3' })).matching, 1)
  })

  test('close returns within its timeout although the service does not respond, and texts stay available', async () => {
    const scenario = await deliveringScenario(service)
    await startTrial(scenario, 1)
    const { ledger } = await readyClient(service, scenario)
    await ledger.prompts.text(p, { unit: 'u', fallback })
    proxy.fate = () => ({ do: 'hold' })
    await ledger.close({ timeout: 50 })
    assert.equal((await ledger.prompts.text(p, { unit: 'u', fallback })).text, 'Be very kind.\n')
    proxy.reset()
    const { length } = documents()
    await ledger.close()
    assert.equal(documents().length, length)
  })

  test('a process ends although its client was not closed', async () => {
    const scenario = await deliveringScenario(service)
    await startTrial(scenario, 1)
    const index = fileURLToPath(new URL('../src/index.ts', import.meta.url))
    const script = `import { Promptledger } from ${JSON.stringify(index)}
      const ledger = new Promptledger()
      // The first call of a busy machine may get the fallback.
      for (let text = ''; text === ''; ) {
        text = (await ledger.prompts.text('${p}', { unit: 'u', fallback: 'none' })).text
        await new Promise(setImmediate)
        if (text !== '') console.log(text)
      }`
    const env = {
      ...process.env,
      PROMPTLEDGER_URL: service.address,
      PROMPTLEDGER_KEY: scenario.tenant.key,
      XDG_CACHE_HOME: await createFolder(),
    }
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], { env })
    assert.match(stdout, /Be very kind/)
    assert.match(stderr, /promptledger: Error: ENOENT/)
    assert.equal((await readdir(join(env.XDG_CACHE_HOME, 'promptledger'))).length, 1)
  })
})
