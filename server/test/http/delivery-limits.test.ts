import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { generateTrialId, type ServedTrial } from '../../src/domain/trials/trial.ts'
import { createExposureCounter } from '../../src/http/delivery/exposures.ts'

const kilobyte = 1024

onOneEngine('Limits of text delivery', (engine) => {
  const service = useService(engine)

  /** A tenant that delivers as many copies of a text. */
  async function delivering(text: string, count: number): Promise<Tenant> {
    const tenant = await service.tenant()
    const { store, now } = service
    await store.liveTexts.updateSettings(tenant.organisation.id, { enabled: true }, now, operator)
    const live = { entryId: 1, commitSha: '1'.repeat(40), blob: '2'.repeat(40), text }
    for (let i = 0; i < count; i++) {
      const { id } = await service.prompt(tenant.organisation, `p${i}`)
      await store.liveTexts.replace(tenant.organisation.id, [{ ...live, promptId: id }], 2 ** 30)
    }
    return tenant
  }

  function get({ headers }: Tenant, query = '') {
    return service.app.inject({ url: `/api/v1/delivery${query}`, headers })
  }

  async function startTrial({ organisation }: Tenant, text: string, names: string[]): Promise<string> {
    const found = await Promise.all(names.map((name) => service.store.prompts.named(organisation.id, name)))
    const trial = {
      organisationId: organisation.id,
      id: generateTrialId(),
      repositoryId: 1,
      prNumber: null,
      commitSha: '3'.repeat(40),
      share: 0.5,
      ramp: null,
      startedBy: 'test',
      startedAt: service.now,
      prompts: found.flat().map((prompt) => ({ prompt, controls: ['3'.repeat(40)], blob: '4'.repeat(40), text })),
    }
    await service.store.trials.start(trial, operator, 2 ** 30)
    return trial.id
  }

  test('a document has at most 8 MiB of JSON, and one that is larger is not built again for each poll', async () => {
    const fits = await delivering('x'.repeat(200 * kilobyte), 40)
    assert.equal((await get(fits)).statusCode, 200)
    const names = Array.from({ length: 2 }, (_, i) => `p${i}`)
    await startTrial(fits, 'y'.repeat(200 * kilobyte), names)
    assertError(await get(fits), 409, 'conflict')
    assert.equal((await get(fits, '?prompts=p1*')).statusCode, 200)

    const { liveTexts } = service.store
    const { texts } = liveTexts
    let reads = 0
    liveTexts.texts = (...request) => {
      reads++
      return texts(...request)
    }
    // JSON writes each as six characters, and UTF-8 as three bytes.
    for (const text of ['\u0001'.repeat(200 * kilobyte), '語'.repeat(80 * kilobyte)]) {
      const tenant = await delivering(text, 35)
      assertError(await get(tenant), 409, 'conflict')
      const before = reads
      assertError(await get(tenant), 409, 'conflict')
      assert.equal(reads, before)
    }
    liveTexts.texts = texts
  })

  test('exposures that could not be stored are stored later, and those at the end before the service closes', async () => {
    const tenant = await delivering('Be kind.', 1)
    const id = await startTrial(tenant, 'Be brief.', ['p0'])
    const { organisation } = tenant
    const counter = createExposureCounter(service.store.trials, service.syncContext.log)
    const served = { id, share: 0.5 } as ServedTrial
    const counted = async () => (await service.store.trials.exposures({ organisationId: organisation.id, id }))[0]
    const key = { organisationId: organisation.id, keyId: 1 }
    for (const unit of ['u1', 'u2', 'u2']) counter.count(key, served, unit, 'control')
    await queryRows(service.url, 'alter table trial_exposures rename to hidden_exposures')
    await counter.flush()
    await queryRows(service.url, 'alter table hidden_exposures rename to trial_exposures')
    assert.equal(await counted(), undefined)
    // One that is in progress is waited for, too.
    void counter.flush()
    await counter.flush()
    assert.deepEqual(await counted(), { keyId: 1, share: 0.5, control: 2, candidate: 0, sources: 1 })
  })

  test('a trial, an organisation and all together have a limited number of units counted, and others are not affected', async () => {
    const tenants = [await delivering('Be kind.', 3), await delivering('Be kind.', 3)]
    const limits = { ofTrial: 30, ofOrganisation: 90, ofAll: 1_000 }
    const counter = createExposureCounter(service.store.trials, service.syncContext.log, limits)
    const controls: (number | undefined)[] = []
    for (const tenant of tenants) {
      const { id: organisationId } = tenant.organisation
      for (const name of ['p0', 'p1', 'p2']) {
        const id = await startTrial(tenant, 'Be brief.', [name])
        for (let i = 0; i < 50; i++)
          counter.count({ organisationId, keyId: 1 }, { id, share: 0.5 } as ServedTrial, `u${i}`, 'control')
        await counter.flush()
        controls.push((await service.store.trials.exposures({ organisationId, id }))[0]?.control)
      }
    }
    // A trial takes the room of 25 units before its first one.
    assert.deepEqual(controls, [30, 10, undefined, 30, 10, undefined])
  })
})
