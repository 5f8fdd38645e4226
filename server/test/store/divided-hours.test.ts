import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postDeployment } from '../../../testing/deployments.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { seededRandom } from '../../../testing/random.ts'
import { useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { voteHistoryOf } from '../../src/domain/impact/reading/vote-history.ts'
import { windowSumsOf } from '../../src/domain/impact/reading/window-sums.ts'
import { hour, hourStart, isoTime } from '../../src/domain/time.ts'
import { startedSpans } from '../../src/store/sql/started-spans.ts'

const [first, second] = ['a1'.repeat(20), 'b2'.repeat(20)] as const

onEachEngine('Hours that many deployments divide', (engine) => {
  const service = useService(engine)

  test('the signals before each of many instants are counted exactly, and none is read twice', async () => {
    const random = seededRandom(3)
    const [one, two] = [await service.tenant(), await service.tenant()]
    const start = hourStart(service.now) - 5 * hour
    const signals = Array.from({ length: 200 }, (_, i) =>
      signalFor(one, {
        createdAt: start + Math.floor(random() * 2 * hour),
        value: i % 3 === 0 ? 'negative' : 'positive',
      }),
    )
    await service.store.signals.import(inBatches(signals))
    const promptId = one.prompt.id
    const instants = Array.from({ length: 60 }, () => ({ promptId, at: start + Math.floor(random() * 2 * hour) }))
    // Twice the same, one on the hour, and one of a prompt without signals.
    instants.push({ ...(instants[0] as (typeof instants)[0]) }, { promptId, at: start + hour })
    instants.push({ promptId: two.prompt.id, at: start + 90_000 })
    const counted = await service.store.signals.startedHours(one.organisation.id, instants)
    for (const [i, { promptId: id, at }] of instants.entries()) {
      const before = signals.filter((signal) => {
        return signal.promptId === id && signal.createdAt >= hourStart(at) && signal.createdAt < at
      })
      const positive = before.filter(({ value }) => value === 'positive').length
      assert.deepEqual(counted[i], { positive, negative: before.length - positive }, `instant ${i}`)
    }
    const spans = startedSpans(instants).filter(({ prompt }) => prompt === promptId)
    for (const [i, { first: from }] of spans.entries()) assert.ok(i === 0 || from >= (spans[i - 1]?.last ?? 0))
  })

  test('versions that take turns many times are summed with one read of the hours, and each signal counts once', async () => {
    const tenant = await service.tenant('free', 'admin')
    const start = hourStart(service.now) - 20 * hour
    await tenant.recordEntry({ commitSha: first, createdAt: start - 2 * hour })
    await tenant.recordEntry({ commitSha: second, createdAt: start - hour })
    for (let i = 0; i < 40; i++) {
      const at = isoTime(start + i * 20 * 60_000 + 1_000)
      const commit = i % 2 === 0 ? first : second
      const { statusCode, body } = await postDeployment(service, tenant, tenant.path.replace('/api/v1', ''), {
        commit_sha: commit,
        at,
      })
      assert.equal(statusCode, 201, body)
    }
    const details = { ...noDetails, version: first }
    const signals = Array.from({ length: 300 }, (_, i) =>
      signalFor(tenant, { createdAt: start + i * 2 * 60_000, ...(i % 5 === 0 && { details }) }),
    )
    await service.store.signals.import(inBatches(signals))
    const { store, now } = service
    const history = await voteHistoryOf(store, tenant.prompt, { at: now, isPast: false })
    assert.ok(history.hasVersions)
    let reads = 0
    const recorded: typeof store.signals = {
      ...store.signals,
      versionedHourlySums(organisationId, spans) {
        reads += spans.length
        return store.signals.versionedHourlySums(organisationId, spans)
      },
    }
    const { periods } = history
    assert.ok(periods.reduce((sum, { credits }) => sum + credits.length, 0) > 40)
    const windows = await windowSumsOf(
      { signals: recorded },
      periods.map((period) => ({ history, period })),
    )
    assert.equal(reads, 1)
    const total = windows.reduce((sum, { tally: { positive, negative } }) => sum + positive + negative, 0)
    assert.equal(total, 300)
    const attributed = windows.reduce((sum, { attributedBy }) => sum + attributedBy.version, 0)
    assert.equal(attributed, 60)
  })
})
