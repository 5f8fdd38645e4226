import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Engine, onEachEngine } from '../../../testing/engines.ts'
import { type Delivery, deliveries } from '../../../testing/payloads.ts'
import { connected, type Scenario } from '../../../testing/scenario.ts'
import { queryRows, TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { startWorker, syncOnce } from '../../src/follow/worker.ts'

const second = 1_000
const day = 24 * 3_600_000
const megabyte = 1024 * 1024

interface DeliveryBody {
  id: number
  event: string
  state: string
  attempts: number
  error: string | null
  next_attempt_at: string | null
}

async function deliveriesOf(scenario: Scenario): Promise<DeliveryBody[]> {
  const { data } = await scenario.get(`/repositories/${scenario.repository.id}/deliveries`)
  return data as DeliveryBody[]
}

async function post(scenario: Scenario, hookId: string, { headers, body }: Delivery) {
  return scenario.service.app.inject({ method: 'POST', url: `/webhooks/${hookId}`, headers, payload: body })
}

async function isDue({ service, repository }: Scenario): Promise<boolean> {
  return (await service.store.repositories.due(service.now)).includes(repository.id)
}

/** A push of a new commit that the remote has and the service has not been told of. */
function newPush(scenario: Scenario): Delivery {
  const before = scenario.git.head()
  scenario.git.commit('Change', { 'prompts/p.md': `${randomUUID()}\n` })
  scenario.git.push()
  return scenario.pushed('main', before)
}

/** The remote as it is while its server is down. */
function takeAway({ git }: Scenario): () => void {
  renameSync(git.remote, `${git.remote}.away`)
  return () => renameSync(`${git.remote}.away`, git.remote)
}

async function withOwnService(engine: Engine, work: (service: TestService) => Promise<void>): Promise<void> {
  const service = new TestService()
  await service.open(engine)
  await work(service).finally(() => service.close())
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10 * second
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'it took too long')
    await pause(20)
  }
}

onEachEngine('POST webhooks', (engine) => {
  const service = useService(engine)

  test('stores the delivery as it came, to be worked on, before it answers 202', async () => {
    const scenario = await connected(service)
    const { headers, body } = newPush(scenario)
    const response = await post(scenario, scenario.repository.hookId, { headers, body })
    assert.deepEqual([response.statusCode, response.json()], [202, { data: { status: 'accepted' } }])
    const [row, ...others] = await queryRows(
      service.url,
      `select * from deliveries where repository_id = ${scenario.repository.id}`,
    )
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(row, { state: 'pending', event: 'push', delivery_id: headers['x-github-delivery'] })
    assert.equal(row?.body, body.toString())
    assert.ok(await isDue(scenario))
    assert.equal((await scenario.history()).length, 1, 'it was worked on before it was due')
    await scenario.work()
    assert.equal((await scenario.history()).length, 2)
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
  })

  test('refuses a missing, empty, repeated or wrong signature with 401, and stores nothing', async () => {
    const scenario = await connected(service)
    const { headers, body } = newPush(scenario)
    const name = 'x-hub-signature-256'
    const { [name]: signature = '', ...unsigned } = headers
    const otherSecret = deliveries('github', `${scenario.secret}x`).signed('push', body).headers[name] as string
    const noSecret = deliveries('github', '').signed('push', body).headers[name] as string
    const wrong: Record<string, Record<string, string | string[]>> = {
      missing: {},
      empty: { [name]: '' },
      'prefix only': { [name]: 'sha256=' },
      'without prefix': { [name]: signature.slice('sha256='.length) },
      'cut off': { [name]: signature.slice(0, -2) },
      longer: { [name]: `${signature}00` },
      'of another secret': { [name]: otherSecret },
      'of the empty secret': { [name]: noSecret },
      'not hexadecimal': { [name]: `sha256=${'z'.repeat(64)}` },
      'sha1 only': { 'x-hub-signature': headers['x-hub-signature'] as string },
      'secret in place of it': { [name]: `sha256=${scenario.secret}` },
      repeated: { [name]: [signature, signature] },
    }
    for (const [what, signed] of Object.entries(wrong)) {
      const response = await service.app.inject({
        method: 'POST',
        url: `/webhooks/${scenario.repository.hookId}`,
        headers: { ...unsigned, 'x-hub-signature': '', ...signed },
        payload: body,
      })
      assert.deepEqual([response.statusCode, response.json().error?.code], [401, 'unauthorized'], what)
    }
    for (const payload of [Buffer.concat([body, Buffer.from(' ')]), body.subarray(1), Buffer.alloc(0)]) {
      assert.equal((await post(scenario, scenario.repository.hookId, { headers, body: payload })).statusCode, 401)
    }
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('takes no delivery that is signed with the secret of another repository', async () => {
    const [scenario, other] = [await connected(service), await connected(service)]
    const { headers, body } = newPush(other)
    assert.equal((await post(scenario, scenario.repository.hookId, { headers, body })).statusCode, 401)
    assert.equal((await post(other, other.repository.hookId, { headers, body })).statusCode, 202)
    assert.deepEqual([await scenario.deliveryStates(), await other.deliveryStates()], [[], ['pending']])
  })

  test('answers 404 at an unknown hook and at one that was disconnected, whatever the signature', async () => {
    const scenario = await connected(service)
    const { hookId } = scenario.repository
    for (const unknown of ['x', hookId.slice(1), `${hookId}x`, '%00', 'x'.repeat(5_000)]) {
      const response = await post(scenario, unknown, scenario.forge.ping())
      assert.deepEqual([response.statusCode, response.json().error.code], [404, 'not_found'])
    }
    await service.store.repositories.disconnect(scenario.repository, service.now, operator)
    assert.equal(await scenario.send(scenario.forge.ping()), 404)
    assert.equal(await scenario.send(deliveries('github', 'wrong').ping()), 404)
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('takes both secrets while one is being replaced, and the old one no longer than announced', async () => {
    const scenario = await connected(service)
    const rotate = async () => {
      const url = `/api/v1/repositories/${scenario.repository.id}/rotate-secret`
      const response = await service.app.inject({ method: 'POST', url, headers: scenario.tenant.headers })
      const { webhook_secret, old_secret_until } = response.json().data
      return { forge: deliveries('github', webhook_secret), until: Date.parse(old_secret_until) }
    }
    const { forge: old } = scenario
    const { forge: current, until } = await rotate()
    assert.equal(await scenario.send(old.ping()), 202)
    assert.equal(await scenario.send(current.ping()), 202)
    service.now = until - 1
    assert.equal(await scenario.send(old.ping()), 202)
    service.now = until
    assert.equal(await scenario.send(old.ping()), 401)
    assert.equal(await scenario.send(current.ping()), 202)
    const next = await rotate()
    assert.equal(await scenario.send(old.ping()), 401, 'a secret that was over counts again')
    assert.equal(await scenario.send(current.ping()), 202)
    assert.equal(await scenario.send(next.forge.ping()), 202)
  })

  test('knows the forge by the hook, not by what the headers say', async () => {
    const scenario = await connected(service)
    const push = newPush(scenario)
    for (const name of ['gitlab', 'bitbucket', 'gitea'] as const) {
      const { headers } = deliveries(name, scenario.secret).signed('push', push.body)
      // Gitea may send GitHub's headers as well, for those who expect them.
      for (const header of Object.keys(headers)) if (header.startsWith('x-hub-signature-256')) delete headers[header]
      assert.equal(await scenario.send({ headers, body: push.body }), 401, name)
    }
    const gitlab = { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': 'wrong', 'x-event-key': 'repo:push' }
    assert.equal(await scenario.send({ ...push, headers: { ...gitlab, ...push.headers } }), 202)
    await scenario.work()
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
    assert.equal((await scenario.history()).length, 2)
  })

  test('takes bodies of 12 MB and refuses those over 25 MB with the usual error body', async () => {
    const scenario = await connected(service)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/webhooks/${scenario.repository.hookId}`
    const padded = (size: number) => Buffer.from(`{"ref":"refs/tags/x","pad":"${'x'.repeat(size)}"}`)

    const large = scenario.forge.signed('push', padded(12 * megabyte))
    const accepted = await fetch(url, { method: 'POST', headers: large.headers, body: large.body })
    assert.equal(accepted.status, 202)
    await scenario.work()
    assert.deepEqual(await scenario.deliveryStates(), ['ignored'])

    const { headers, body } = scenario.forge.signed('push', padded(26 * megabyte))
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n`,
    )
    const [answer] = await once(socket, 'data')
    socket.destroy()
    assert.match(String(answer), /^HTTP\/1\.1 422 /)
    assert.match(String(answer), /\{"error":\{"code":"validation_error","message":"The body is too large"\}\}$/)
    const chunked = await service.app.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      payload: body,
    })
    assert.deepEqual([chunked.statusCode, chunked.json().error.code], [422, 'validation_error'])
    assert.equal((await scenario.deliveryStates()).length, 1)
  })

  test('refuses a body that is signed and not UTF-8 with 422, and stores nothing', async () => {
    const scenario = await connected(service)
    const body = Buffer.concat([Buffer.from('{"ref":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const response = await post(scenario, scenario.repository.hookId, scenario.forge.signed('push', body))
    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json(), { error: { code: 'validation_error', message: 'The body is not valid UTF-8' } })
    assert.deepEqual(await scenario.deliveryStates(), [])
  })

  test('takes a body of any content type, or of none', async () => {
    const scenario = await connected(service)
    const { headers, body } = scenario.forge.ping()
    const { 'content-type': _, ...untyped } = headers
    for (const more of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/octet-stream' }] as Record<
      string,
      string
    >[]) {
      const sent = { headers: { ...untyped, ...more, 'x-github-delivery': randomUUID() }, body }
      assert.equal((await post(scenario, scenario.repository.hookId, sent)).statusCode, 202, JSON.stringify(more))
    }
    const form = Buffer.from(`payload=${encodeURIComponent(newPush(scenario).body.toString())}`)
    const signed = scenario.forge.signed('push', form)
    signed.headers['content-type'] = 'application/x-www-form-urlencoded'
    assert.equal((await post(scenario, scenario.repository.hookId, signed)).statusCode, 202)
    await scenario.work()
    assert.deepEqual(await scenario.deliveryStates(), ['done', 'ignored', 'ignored', 'ignored'])
    assert.equal((await scenario.history()).length, 2)
  })

  test('a delivery that the forge sends twice is worked on once', async () => {
    const scenario = await connected(service)
    const push = newPush(scenario)
    await scenario.deliver(push)
    assert.equal(await scenario.send(push), 202)
    assert.deepEqual(await scenario.deliveryStates(), ['done'])
    await scenario.work()
    assert.deepEqual(
      (await deliveriesOf(scenario)).map(({ state, attempts }) => [state, attempts]),
      [['done', 1]],
    )
    assert.equal((await scenario.history()).length, 2)
  })
})

onEachEngine('Working on deliveries', (engine) => {
  const service = useService(engine)

  test('is tried again after pauses that grow while the remote is away, and done once it is back', async () => {
    const scenario = await connected(service)
    const push = newPush(scenario)
    const putBack = takeAway(scenario)
    assert.equal(await scenario.send(push), 202)
    for (const [i, seconds] of [2, 10, 60, 300].entries()) {
      assert.ok(await isDue(scenario))
      await assert.rejects(syncOnce(service.follow, scenario.repository.id))
      const [delivery] = await deliveriesOf(scenario)
      assert.partialDeepStrictEqual(delivery, { state: 'pending', attempts: i + 1 })
      assert.match(delivery?.error as string, /does not appear to be a git repository/)
      assert.equal(Date.parse(delivery?.next_attempt_at as string), service.now + seconds * second)
      service.now += seconds * second - 1
      assert.ok(!(await isDue(scenario)), 'it is due before the pause is over')
      service.now += 1
    }
    putBack()
    await scenario.work()
    const [delivery] = await deliveriesOf(scenario)
    assert.partialDeepStrictEqual(delivery, { state: 'done', attempts: 5, error: null, next_attempt_at: null })
    assert.equal((await scenario.history()).length, 2)
    assert.equal(scenario.repository.lastError, null)
  })

  test('has failed for good after the last attempt, and is tried again when the forge or a person sends it again', async () => {
    const scenario = await connected(service)
    const push = newPush(scenario)
    const putBack = takeAway(scenario)
    const tryToTheEnd = async () => {
      const start = service.now
      for (;;) {
        await assert.rejects(syncOnce(service.follow, scenario.repository.id))
        const [delivery] = await deliveriesOf(scenario)
        if (delivery?.state === 'failed') return service.now - start
        service.now = Date.parse(delivery?.next_attempt_at as string)
      }
    }
    assert.equal(await scenario.send(push), 202)
    const tried = await tryToTheEnd()
    assert.ok(tried > 6 * day && tried < 8 * day, `it was tried for ${tried} ms`)
    const [failed] = await deliveriesOf(scenario)
    assert.match(failed?.error as string, /does not appear to be a git repository/)
    assert.equal(failed?.next_attempt_at, null)

    assert.equal(await scenario.send(push), 202)
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'pending', attempts: 0 }])
    await assert.rejects(syncOnce(service.follow, scenario.repository.id))
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'pending', attempts: 1 }])

    putBack()
    const url = `/api/v1/repositories/${scenario.repository.id}/deliveries/${failed?.id}/redeliver`
    await service.app.inject({ method: 'POST', url, headers: scenario.tenant.headers })
    assert.ok(await isDue(scenario))
    await scenario.work()
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ id: failed?.id, state: 'done', error: null }])
    assert.equal((await scenario.history()).length, 2)
  })

  test('one that cannot be read fails with its reason and holds up none of the same repository', async () => {
    const scenario = await connected(service)
    const unreadable: [string, string, RegExp][] = [
      ['push', '{"ref":5}', /^ref must be a text/],
      ['push', 'nonsense', /^the body must be JSON/],
      ['pull_request', '{"action":"opened","pull_request":{}}', /^pull_request\.\S+ must be /],
      ['push', '\0', /^the body must be JSON/],
    ]
    for (const [event, body] of unreadable) {
      assert.equal(await scenario.send(scenario.forge.signed(event, Buffer.from(body))), 202)
    }
    await scenario.deliver(newPush(scenario))
    const [push, ...others] = await deliveriesOf(scenario)
    assert.equal(push?.state, 'done')
    for (const [i, { state, attempts, error }] of others.reverse().entries()) {
      assert.deepEqual([state, attempts], ['failed', 1])
      assert.match(error as string, unreadable[i]?.[2] as RegExp)
    }
    assert.equal((await scenario.history()).length, 2)
    assert.equal(scenario.repository.lastError, null)
  })

  test('one whose commit git does not have yet waits, and holds up none of the same repository', async () => {
    const scenario = await connected(service)
    const pull = scenario.forge.pull({ action: 'opened', number: 7, head: 'd'.repeat(40) })
    await scenario.deliver(pull, newPush(scenario))
    const [push, opened] = await deliveriesOf(scenario)
    assert.equal(push?.state, 'done')
    assert.partialDeepStrictEqual(opened, { state: 'pending', attempts: 1 })
    assert.match(opened?.error as string, /^commit d{40} of pull request 7 is not in git/)
    assert.equal((await scenario.history()).length, 2)
  })

  test('names and titles with any characters reach the history instead of failing the delivery', async () => {
    const scenario = await connected(service)
    scenario.git.switchTo('feature', 'main')
    const head = scenario.git.commit('Change', { 'prompts/p.md': 'x\n' })
    scenario.git.push('feature:refs/pull/7/head')
    const title = 'a\0b\u001e\ud800\r\n</script>"\\ 𝒳'
    await scenario.deliver(scenario.forge.pull({ action: 'opened', number: 7, head, title, author: 'x\0y\udfff' }))
    assert.partialDeepStrictEqual(await deliveriesOf(scenario), [{ state: 'done', error: null }])
    const entry = (await scenario.history()).at(-1)
    assert.equal(entry?.action, 'pr_opened')
    const { data } = await scenario.get(`/prompts/${await scenario.promptId('prompts/p.md')}/history/${entry?.id}`)
    assert.partialDeepStrictEqual(data, { message: 'a b \ufffd  </script>"\\ 𝒳', actor: 'x y\ufffd' })
  })

  test('one that tells nothing does not put off the look that is due', async () => {
    const scenario = await connected(service)
    const { dueAt } = scenario.repository
    service.now = dueAt - 1
    newPush(scenario)
    await scenario.deliver(scenario.forge.ping())
    assert.equal((await scenario.history()).length, 1)
    assert.equal(scenario.repository.dueAt, dueAt)
    service.now = dueAt
    await scenario.deliver(scenario.forge.ping())
    assert.equal((await scenario.history()).length, 2)
    assert.deepEqual(await scenario.deliveryStates(), ['ignored', 'ignored'])
  })

  test('a repository that fails holds up no other', async () => {
    await withOwnService(engine, async (own) => {
      const [broken, sound] = [await connected(own), await connected(own)]
      const sent = [newPush(broken), newPush(sound)]
      takeAway(broken)
      const worker = startWorker(own.follow)
      assert.equal(await broken.send(sent[0] as Delivery), 202)
      assert.equal(await sound.send(sent[1] as Delivery), 202)
      for (const { repository } of [broken, sound]) worker.wake(repository.id)
      await until(async () => (await sound.history()).length === 2)
      await until(async () => (await deliveriesOf(broken))[0]?.error !== null)
      await worker.stop()
      assert.deepEqual([await broken.deliveryStates(), await sound.deliveryStates()], [['pending'], ['done']])
    })
  })

  test('the worker finds by itself what is to be done, and forgets deliveries after 30 days', async () => {
    await withOwnService(engine, async (own) => {
      const [one, other] = [await connected(own), await connected(own)]
      await one.deliver(one.forge.ping(), newPush(one), one.forge.ping())
      await other.deliver(other.forge.ping())
      const idsOf = async (scenario: Scenario) => (await deliveriesOf(scenario)).map(({ id }) => id)
      const [newest, push] = await idsOf(one)
      const last = await idsOf(other)
      // Still to be worked on, however old it is: its next attempt is not yet due.
      const postponed = `update deliveries set state = 'pending', next_attempt_at = ${own.now + 30.5 * day} where id = ${push}`
      await queryRows(own.url, postponed)

      own.now += 30 * day
      let worker = startWorker(own.follow)
      await until(
        async () => one.repository.lastSyncAt !== (await own.store.repositories.find(one.repository.id))?.lastSyncAt,
      )
      await worker.stop()
      assert.equal((await idsOf(one)).length, 3, 'one was forgotten before its time')

      own.now += 1
      worker = startWorker(own.follow)
      await until(async () => (await idsOf(one)).length < 3)
      await worker.stop()
      assert.deepEqual(await idsOf(one), [newest, push])
      assert.deepEqual(await idsOf(other), last)
    })
  })
})
