import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import { HttpProxy } from '../../../testing/http-proxy.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { createLiveTextRounds } from '../../src/service/live-texts.ts'

describe('Live texts of a remote that never responds', () => {
  const service = new TestService()
  const proxy = new HttpProxy()
  const server = new GitHttpServer()

  before(async () => {
    await service.open(sqlite)
    Object.assign(service.syncContext, { allowHttp: true, allowPrivateAddresses: true })
    await server.start()
    await proxy.open(server.port)
  })
  after(() => proxy.close())

  async function delivering(): Promise<Scenario> {
    const scenario = await connectedScenario(service)
    const { id } = scenario.tenant.organisation
    await service.store.liveTexts.updateSettings(id, { enabled: true }, service.now, operator)
    return scenario
  }

  const storedOf = async ({ tenant }: Scenario) =>
    (await service.store.liveTexts.versions(tenant.organisation.id)).length

  test('delay no other organisation, are asked for less and less often, and are stored once it responds', async () => {
    const bad = await delivering()
    server.folders.set('/bad', bad.git.remote)
    await queryRows(service.url, `update repositories set url = '${proxy.address}/bad' where id = ${bad.repository.id}`)
    // As on a machine whose sync of this repository is due.
    await rm(mirrorOf(service.syncContext, bad.repository).path, { recursive: true })
    const good = await delivering()
    proxy.fate = () => ({ do: 'hold' })
    const { store, repositories } = service
    const rounds = createLiveTextRounds({ store, repositories, clock: () => service.now, log: service.syncContext.log })
    await rounds.round()
    await eventually(async () => {
      assert.equal(proxy.inFlight, 1)
      assert.equal(await storedOf(good), 2)
    })
    // Also what goes live later.
    good.git.commit('Change', { 'prompts/p.md': 'New.\n' })
    await good.push()
    service.now += 60_000
    await rounds.round()
    await eventually(async () => {
      const [{ text } = { text: '' }] = await store.liveTexts.texts(good.tenant.organisation.id, [
        (await store.prompts.named(good.tenant.organisation.id, 'prompts/p.md'))[0]?.id as number,
      ])
      assert.equal(text, 'New.\n')
    })
    assert.equal(proxy.inFlight, 1)

    proxy.fate = () => ({ do: 'refuse' })
    proxy.release()
    await rounds.settled()
    assert.equal(await storedOf(bad), 0)
    const fetchesAfter = async (milliseconds: number) => {
      proxy.requests = []
      service.now += milliseconds
      await rounds.round()
      await rounds.settled()
      return proxy.requests.length
    }
    assert.ok((await fetchesAfter(60_000)) > 0)
    assert.equal(await fetchesAfter(60_000), 0)
    proxy.reset()
    assert.ok((await fetchesAfter(60_000)) > 0)
    // The next round stores what was fetched.
    await rounds.round()
    await rounds.settled()
    assert.equal(await storedOf(bad), 2)
  })
})
