import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onOneEngine } from '../../../testing/engines.ts'
import { bob, type GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom, type ForgeDeliveries } from '../../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import { connectedScenario, Scenario } from '../../../testing/scenario.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { commitPull } from './pull-branch.ts'

type Event = (forge: ForgeDeliveries) => Delivery

const p = 'prompts/p.md'
const paths = [p, 'prompts/moved.md', 'prompts/r.md', 'prompts/late.md']

/** Plays every kind of merge, with the events around it. Returns the events in the order in which they happened. */
async function playEveryKindOfMerge(s: Scenario): Promise<Event[]> {
  const events: Event[] = []
  let minute = 0
  let before = s.git.head()
  const now = () => new Date(Date.parse('2026-03-05T00:00:00Z') + 60_000 * ++minute).toISOString()

  async function deliver(...next: Event[]): Promise<void> {
    events.push(...next)
    for (const event of next) await s.deliver(event(s.forge))
  }
  const pushed = (): Event => {
    s.git.push('main:main')
    const facts = { before, after: s.git.head('main') }
    before = facts.after
    return (forge) => forge.push(facts)
  }
  const pull = (number: number, openedAt: string, head: string, more: object = {}) => ({
    number,
    openedAt,
    head,
    at: now(),
    ...more,
  })

  s.git.commit('Direct', { [p]: 'direct\n' })
  await deliver(pushed())

  // A merge commit, after a second commit that touches another prompt.
  let openedAt = now()
  let head = commitPull(s, 1, { [p]: '1\n' })
  const opened = pull(1, openedAt, head)
  await deliver((forge) => forge.pull({ action: 'opened', ...opened }))
  s.git.switchTo('pull-1')
  head = s.git.commit('Also q', { 'prompts/q.md': '1\n' }, { author: bob })
  s.git.push('pull-1:refs/pull/1/head')
  s.git.switchTo('main')
  const updated = pull(1, openedAt, head)
  await deliver((forge) => forge.pull({ action: 'updated', ...updated }))
  const merged = pull(1, openedAt, head, { mergeCommit: s.git.merge('pull-1', 'Merge it') })
  await deliver(pushed(), (forge) => forge.pull({ action: 'merged', ...merged }))

  // A squash, after closing and reopening.
  openedAt = now()
  head = commitPull(s, 2, { [p]: '2\n' }, { [p]: '22\n' })
  const times = [pull(2, openedAt, head), pull(2, openedAt, head), pull(2, openedAt, head)]
  const squashed = pull(2, openedAt, head, { mergeCommit: s.git.squash('pull-2', 'A title', { author: bob }) })
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...(times[0] as typeof opened) }),
    (forge) => forge.pull({ action: 'closed', ...(times[1] as typeof opened) }),
    (forge) => forge.pull({ action: 'reopened', ...(times[2] as typeof opened) }),
    pushed(),
    (forge) => forge.pull({ action: 'merged', ...squashed }),
  )

  // A rebase that adds a prompt.
  openedAt = now()
  head = commitPull(s, 3, { [p]: '3\n' }, { 'prompts/r.md': '3\n' })
  s.git.commit('Meanwhile', { 'README.md': 'y\n' })
  const third = pull(3, openedAt, head)
  const rebased = pull(3, openedAt, head, { mergeCommit: s.git.rebase('pull-3').at(-1), commitCount: 2 })
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...third, commitCount: 2 }),
    pushed(),
    (forge) => forge.pull({ action: 'merged', ...rebased }),
  )

  // A pull request that is closed, a branch merged by hand, a move, and commits of a pull request pushed by hand.
  openedAt = now()
  head = commitPull(s, 4, { [p]: '4\n' })
  const fourth = [pull(4, openedAt, head), pull(4, openedAt, head)]
  s.git.switchTo('work', 'main')
  s.git.commit('By hand', { 'prompts/r.md': 'hand\n' })
  s.git.switchTo('main')
  s.git.merge('work', "Merge branch 'work'")
  s.git.git('mv', 'prompts/q.md', 'prompts/moved.md')
  s.git.commit('Move')
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...(fourth[0] as typeof opened) }),
    (forge) => forge.pull({ action: 'closed', ...(fourth[1] as typeof opened) }),
    pushed(),
  )
  openedAt = now()
  head = commitPull(s, 5, { [p]: '5\n' }, { [p]: '55\n' })
  const fifth = pull(5, openedAt, head, { commitCount: 2 })
  s.git.git('merge', '--quiet', '--ff-only', 'pull-5')
  const indirect = pull(5, openedAt, head, { mergeCommit: head, commitCount: 2 })
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...fifth }),
    pushed(),
    (forge) => forge.pull({ action: 'merged', ...indirect }),
  )
  // Two stacked pull requests, and a closed one whose new file lands another way.
  openedAt = now()
  const below = commitPull(s, 6, { [p]: '6\n' })
  s.git.switchTo('pull-7', 'pull-6')
  const above = s.git.commit('On top', { 'prompts/moved.md': '7\n' }, { author: bob })
  s.git.push('pull-7:refs/pull/7/head')
  s.git.switchTo('main')
  s.git.commit('Meanwhile again', { 'README.md': 'z\n' })
  const stacked = [pull(6, openedAt, below), pull(7, openedAt, above)]
  const [landedBelow, landedAbove] = s.git.rebase('pull-7')
  const landed = [
    pull(6, openedAt, below, { mergeCommit: landedBelow, commitCount: 1 }),
    pull(7, openedAt, above, { mergeCommit: landedAbove, commitCount: 2 }),
  ]
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...(stacked[0] as typeof opened), commitCount: 1 }),
    (forge) => forge.pull({ action: 'opened', ...(stacked[1] as typeof opened), commitCount: 2 }),
    pushed(),
    (forge) => forge.pull({ action: 'merged', ...(landed[0] as typeof opened) }),
    (forge) => forge.pull({ action: 'merged', ...(landed[1] as typeof opened) }),
  )
  openedAt = now()
  head = commitPull(s, 8, { 'prompts/late.md': '8\n' })
  const eighth = [pull(8, openedAt, head), pull(8, openedAt, head)]
  s.git.commit('By another way', { 'prompts/late.md': 'late\n' })
  await deliver(
    (forge) => forge.pull({ action: 'opened', ...(eighth[0] as typeof opened) }),
    (forge) => forge.pull({ action: 'closed', ...(eighth[1] as typeof opened) }),
    pushed(),
  )
  await s.advance(60)
  return events
}

/** Connects the same repository to another organisation after everything has happened. */
async function connectLate(service: TestService, git: GitRepository): Promise<Scenario> {
  const tenant = await service.tenant('free', 'admin')
  const { lease, secret } = await connectRepository(
    service.syncContext,
    {
      organisationId: tenant.organisation.id,
      forge: 'github',
      url: git.remote,
      path: 'prompts/**',
      similarity: 100,
      token: null,
      secret: null,
    },
    operator,
  )
  await syncWithLease(service.syncContext, lease)
  const repository = (await service.store.repositories.find(lease.repository.id)) as Repository
  return new Scenario(service, tenant, git, 'github', repository, secret)
}

async function histories(s: Scenario) {
  const all = []
  for (const path of paths) {
    const entries = (await s.history(path)).map(({ id: _, ...entry }) => JSON.stringify(entry))
    all.push([path, entries.sort()])
  }
  return all
}

onOneEngine('The order of deliveries', (engine) => {
  const service = useService(engine)

  // How long it takes is random: each batch is a sync of its own, and may have one delivery or eight.
  const timeout = 600_000
  test('the history does not depend on the order, number and grouping of deliveries', { timeout }, async () => {
    const s = await connectedScenario(service)
    const events = await playEveryKindOfMerge(s)
    const expected = await histories(s)
    const actions = (await s.history()).map(({ action }) => action)
    assert.deepEqual(new Set(actions), new Set(['deployed', 'pr_opened', 'pr_merged', 'pr_closed']))

    const order = fc.shuffledSubarray([...events.keys(), ...events.keys()], { minLength: events.length * 2 })
    const run = fc.record({ order, batches: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 40 }) })
    await fc.assert(
      fc.asyncProperty(run, async ({ order, batches }) => {
        const late = await connectLate(service, s.git)
        const forge = deliveriesFrom('github', late.secret)
        const remaining = order.map((i) => (events[i] as Event)(forge))
        for (let turn = 0; remaining.length > 0; turn++)
          await late.deliver(...remaining.splice(0, batches[turn % batches.length]))
        await late.advance(60)
        assert.deepEqual(await histories(late), expected)
        assert.deepEqual(new Set(await late.deliveryStates()), new Set(['done']))
      }),
      { numRuns: 3, endOnFailure: true },
    )
  })
})
