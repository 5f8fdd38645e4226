import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { deliveryPageSchema, oneDeliverySchema, rotatedSecretSchema } from '../../../contract/repositories.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { allRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { day } from '../../src/domain/time.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { createRemote, repositoryClient } from './repository-client.ts'

const token = 'ghp_SECRETTOKEN0123456789'

onOneEngine('The lifecycle of a repository', (engine) => {
  const service = useService(engine)
  const { admin, connect, deliver, historyOf, ping, request } = repositoryClient(service)
  let git: GitRepository
  before(() => {
    git = createRemote()
  })

  test('rotating returns a new secret once, with the time when the old one expires', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    const response = await request(tenant, 'POST', `/${connected.id}/rotate-secret`)
    assert.equal(response.statusCode, 200)
    assertMatchesSchema(rotatedSecretSchema, response)
    const { webhook_url, webhook_secret, old_secret_until } = response.json().data
    assert.equal(webhook_url, connected.webhook_url)
    assert.notEqual(webhook_secret, connected.webhook_secret)
    assert.equal(Date.parse(old_secret_until), service.now + day)
  })

  test('deliveries are listed page by page, newest first, and can be redelivered', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    const path = `/${connected.id}/deliveries`
    const forge = deliveriesFrom('github', connected.webhook_secret)
    assert.deepEqual((await request(tenant, 'GET', path)).json().data, [])
    for (const sent of [forge.ping(), forge.push({ before: null, after: git.head() }), forge.ping()]) {
      assert.equal(await deliver(connected, sent), 202)
    }
    const pending = await request(tenant, 'GET', path)
    assert.equal(pending.statusCode, 200)
    assertMatchesSchema(deliveryPageSchema, pending)
    const statesOf = (response: LightMyRequestResponse) =>
      response.json().data.map(({ event, state }: { event: string; state: string }) => `${event} ${state}`)
    assert.deepEqual(statesOf(pending), ['ping pending', 'push pending', 'ping pending'])
    await syncOnce(service.syncContext, connected.id)
    const processed = await request(tenant, 'GET', path)
    assert.deepEqual(statesOf(processed), ['ping ignored', 'push done', 'ping ignored'])
    const now = new Date(service.now).toISOString()
    const [, push] = processed.json().data
    const { id, ...facts } = push
    const once = { event: 'push', attempts: 1, error: null, received_at: now, next_attempt_at: null, finished_at: now }
    assert.deepEqual(facts, { ...once, state: 'done' })

    const page = (await request(tenant, 'GET', `${path}?limit=1&page=2`)).json()
    assert.deepEqual(page.data, [push])
    assert.deepEqual(page.pagination, { current_page: 2, total_pages: 3, total_count: 3, per_page: 1 })

    service.now += 1_000
    const again = await request(tenant, 'POST', `${path}/${id}/redeliver`)
    assert.equal(again.statusCode, 202)
    assertMatchesSchema(oneDeliverySchema, again)
    assert.partialDeepStrictEqual(again.json().data, { id, state: 'pending', attempts: 0, finished_at: null })
    assert.ok((await service.store.repositories.due(service.now)).some(({ id }) => id === connected.id))
    await syncOnce(service.syncContext, connected.id)
    assert.deepEqual(statesOf(await request(tenant, 'GET', path)), ['ping ignored', 'push done', 'ping ignored'])
  })

  test('disconnecting keeps prompts and history, and stops deliveries and syncs', async () => {
    const tenant = await admin()
    const connected = await connect(tenant, git)
    assert.equal(await deliver(connected, ping(connected)), 202)
    const [delivery] = (await request(tenant, 'GET', `/${connected.id}/deliveries`)).json().data
    const before = await historyOf(tenant, connected)
    const response = await request(tenant, 'DELETE', `/${connected.id}`)
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assert.deepEqual(await historyOf(tenant, connected), before)
    assert.equal(await deliver(connected, ping(connected)), 404)
    assert.equal((await request(tenant, 'GET', `/${connected.id}`)).json().data.state, 'disconnected')
    for (const path of ['sync', `deliveries/${delivery.id}/redeliver`]) {
      assertError(await request(tenant, 'POST', `/${connected.id}/${path}`), 409, 'conflict')
    }
    assert.equal((await request(tenant, 'DELETE', `/${connected.id}`)).statusCode, 204)
    assert.ok(!(await service.store.repositories.due(service.now + 365 * day)).some(({ id }) => id === connected.id))
    assert.equal(await syncOnce(service.syncContext, connected.id), null)
  })

  test('reconnecting restores the same prompts and entries and adds the changes in between', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const first = await connect(tenant, git, { token })
    const before = await historyOf(tenant, first)
    await request(tenant, 'DELETE', `/${first.id}`)
    const missed = git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n' })
    git.push()
    const second = await connect(tenant, git)
    assert.deepEqual([second.id, second.prompts, second.entries], [first.id, first.prompts, 4])
    const [p, q] = await historyOf(tenant, second)
    assert.deepEqual([p.slice(1), q], before, 'entries were recorded again')
    assert.equal(p[0].commit_sha, missed)
    assert.notEqual(second.webhook_url, first.webhook_url)
    assert.equal(await deliver(first, ping(first)), 404)
    assert.equal(await deliver(second, ping(first)), 401)
    assert.equal(await deliver(second, ping(second)), 202)
  })

  test('tokens and secrets appear in no later response, log line, database column or file', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const connected = await connect(tenant, git, { token })
    const rotated = await request(tenant, 'POST', `/${connected.id}/rotate-secret`)
    const secrets = [token, connected.webhook_secret, rotated.json().data.webhook_secret]
    assert.equal(await deliver(connected, ping(connected)), 202)
    assert.equal(await deliver(connected, ping(rotated.json().data)), 202)
    assert.equal(await deliver(connected, deliveriesFrom('github', 'wrong').ping()), 401)
    await syncOnce(service.syncContext, connected.id)
    const responses = await Promise.all(
      ['', `/${connected.id}`, `/${connected.id}/deliveries`].map((path) => request(tenant, 'GET', path)),
    )
    git.remove()
    responses.push(await request(tenant, 'POST', `/${connected.id}/sync`))
    await assert.rejects(syncOnce(service.syncContext, connected.id))
    responses.push(await request(tenant, 'GET', `/${connected.id}`))

    const places = {
      responses: responses.map(({ body }) => body).join('\n'),
      log: service.log.join('\n'),
      database: Object.values(await allRows(service.url))
        .flat()
        .join('\n'),
      files: await everyFile(service.syncContext.dataDir),
    }
    for (const [place, text] of Object.entries(places)) {
      assert.notEqual(text, '', place)
      for (const part of secrets.map((secret) => secret.slice(0, 18))) {
        for (const form of ['utf8', 'base64', 'hex'] as const) {
          assert.ok(!text.includes(Buffer.from(part).toString(form)), `${place}: found a secret, as ${form}`)
        }
      }
    }
    // Proves that the check would find a secret.
    assert.ok(places.database.includes(git.remote))
  })
})

async function everyFile(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n')
}
