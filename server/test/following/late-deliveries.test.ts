import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import type { Delivery, ForgeName } from '../../../testing/payloads/facts.ts'
import { connectedScenario, type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { commitPull } from './pull-branch.ts'
import { deliveriesOf } from './push-delivery.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

/** The actor of each entry of the prompt, oldest first. */
async function actorsOf(s: Scenario, path = p): Promise<(string | null)[]> {
  const id = await s.promptId(path)
  const details = (await s.history(path)).map((entry) => s.get(`/prompts/${id}/history/${entry.id}`))
  return (await Promise.all(details)).map(({ data }) => (data as { actor: string | null }).actor)
}

/** Opens a pull request with a commit to p, then one to q, and merges it by fast-forward, without any delivery. */
function fastForward(s: Scenario) {
  const before = s.git.head()
  const head = commitPull(s, 7, { [p]: 'A\n' }, { [q]: 'B\n' })
  s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
  s.git.push()
  const hasMergeBase = s.forgeName === 'gitea' || s.forgeName === 'forgejo'
  const facts = { number: 7, head, headBranch: 'pull-7', ...(hasMergeBase ? { mergeBase: before } : {}) }
  const count = s.forgeName === 'github' ? { commitCount: 2 } : {}
  // GitLab reports no commit for a fast-forward.
  const mergeCommit = s.forgeName === 'gitlab' ? null : head
  return {
    head,
    pushed: s.pushDelivery('main', before),
    opened: s.forge.pull({ action: 'opened', ...facts, ...count }),
    merged: s.forge.pull({ action: 'merged', ...facts, ...count, mergeCommit }),
  }
}

async function assertMergedWhole(s: Scenario, head: string): Promise<void> {
  await s.advance(60)
  const expected = [`pr_opened ${shortSha(head)} #7`, `pr_merged ${shortSha(head)} #7`]
  assert.deepEqual([(await s.summary(p)).slice(1), (await s.summary(q)).slice(1)], [expected, expected])
}

onOneEngine('Deliveries that arrive late', (engine) => {
  const service = useService(engine)

  for (const forge of ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as ForgeName[]) {
    test(`${forge}: a fast-forward merge that was missed while the service was stopped is one pull request`, async () => {
      const s = await connectedScenario(service, { forge })
      const { head, pushed, opened, merged } = fastForward(s)
      await s.deliver(opened, pushed, merged)
      await assertMergedWhole(s, head)
    })
  }

  for (const forge of ['gitlab', 'bitbucket'] as ForgeName[]) {
    test(`${forge}: the push of a fast-forward merge may arrive in any sync before or after the others`, async () => {
      for (const order of ['push, open, merge', 'open, merge, push', 'open, push, merge', 'merge, push, open']) {
        const s = await connectedScenario(service, { forge })
        const { head, pushed, opened, merged } = fastForward(s)
        const deliveries: Record<string, Delivery> = { push: pushed, open: opened, merge: merged }
        // Git is read before the first delivery.
        service.now += 3_600_000
        await s.sync()
        for (const name of order.split(', ')) await s.deliver(deliveries[name] as Delivery)
        await assertMergedWhole(s, head)
        assert.deepEqual(new Set(await s.deliveryStates()), new Set(['done']), order)
      }
    })
  }

  test('a pull request does not wait for its push for ever', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    const { head, opened, merged } = fastForward(s)
    await s.deliver(opened, merged)
    const unsettled = async () =>
      (await Array.fromAsync(service.store.facts.unsettledPulls(s.repository))).flat().length
    assert.equal(await unsettled(), 1)
    service.now += 8 * 24 * 3_600_000
    await s.sync()
    assert.equal(await unsettled(), 0)
    // Where it began is unknown, so only its newest commit is claimed.
    assert.deepEqual((await s.summary(q)).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(head)} #7`,
    ])
    assert.deepEqual(
      (await s.history()).slice(1).map(({ action }) => action),
      ['deployed'],
    )
  })

  test('an outdated merge base of Gitea does not add commits of the default branch to a pull request', async () => {
    const s = await connectedScenario(service, { forge: 'gitea' })
    const outdated = s.git.head()
    const direct = s.git.commit('Direct', { [p]: 'direct\n' })
    s.git.push()
    const mergeBase = s.git.head()
    const head = commitPull(s, 7, { [q]: '1\n' })
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    const times = ['2026-11-02T10:00:00Z', '2026-11-02T11:00:00Z']
    await s.deliver(s.forge.pull({ action: 'updated', number: 7, head, mergeBase: outdated, at: times[0] as string }))
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 7, head, mergeBase, mergeCommit: head, at: times[1] as string }),
    )
    await s.advance(60)
    assert.deepEqual((await s.summary(p)).slice(1), [`deployed ${shortSha(direct)}`])
    assert.deepEqual((await s.summary(q)).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(head)} #7`,
    ])
  })

  test('every commit of a push has its pusher, also if git is read before the delivery', async () => {
    const s = await connectedScenario(service)
    const before = s.git.head()
    for (const text of ['1\n', '2\n', '3\n']) s.git.commit('Change', { [p]: text })
    s.git.push()
    const pushed = s.pushDelivery('main', before, { pusher: 'ada-l' })
    service.now += 3_600_000
    await s.sync()
    assert.deepEqual(await actorsOf(s), [null, null, null, null])
    await s.deliver(pushed)
    assert.deepEqual(await actorsOf(s), [null, 'ada-l', 'ada-l', 'ada-l'])
  })

  test('a push that is reported before git has it gives its commits their pusher later', async () => {
    const s = await connectedScenario(service)
    const before = s.git.head()
    s.git.commit('One', { [p]: '1\n' })
    s.git.commit('Two', { [p]: '2\n' })
    await s.deliver(s.pushDelivery('main', before, { pusher: 'ada-l' }))
    assert.equal((await s.history()).length, 1)
    s.git.push()
    service.now += 3_600_000
    await s.sync()
    assert.deepEqual(await actorsOf(s), [null, 'ada-l', 'ada-l'])
  })

  test('commits whose own push was not reported have no pusher', async () => {
    const s = await connectedScenario(service)
    s.git.commit('Lost', { [p]: '1\n' })
    s.git.push()
    s.git.commit('Reported', { [p]: '2\n' })
    await s.push('main', { pusher: 'ada-l' })
    assert.deepEqual(await actorsOf(s), [null, null, 'ada-l'])
  })

  test('the first push of a branch belongs to its pusher, except for commits of smaller pushes', async () => {
    const s = await connectedScenario(service, { prepare: () => {} })
    s.git.commit('One', { [p]: '1\n' })
    s.git.commit('Two', { [p]: '2\n' })
    await s.push('main', { pusher: 'ada-l' })
    s.git.commit('Three', { [p]: '3\n' })
    await s.push('main', { pusher: 'bob' })
    // The branch was deleted and created again, with the same commits.
    await s.deliver(s.pushDelivery('main', null, { pusher: 'eve' }))
    assert.deepEqual(await actorsOf(s), ['ada-l', 'ada-l', 'bob'])
  })

  test('new commits of a pull request on an old Gitea are dated when they were made, not at the previous update', async () => {
    const s = await connectedScenario(service, { forge: 'gitea' })
    const openedAt = '2026-03-02T00:00:00Z'
    const first = commitPull(s, 7, { [p]: '1\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head: first, openedAt }))
    s.git.switchTo('pull-7')
    const second = s.git.commit('Also q', { [q]: '1\n' }, { at: '2026-03-02T05:00:00Z' })
    s.git.push('pull-7:refs/pull/7/head')
    await s.deliver(s.forge.pull({ action: 'updated', number: 7, head: second, openedAt, at: openedAt }))
    assert.equal((await s.history(p)).at(-1)?.created_at, '2026-03-02T00:00:00.000Z')
    assert.equal((await s.history(q)).at(-1)?.created_at, '2026-03-02T05:00:00.000Z')
  })

  for (const [forge, field] of [
    ['gitea', 'pull_request.created_at'],
    ['gitlab', 'object_attributes.created_at'],
    ['bitbucket', 'pullrequest.created_on'],
  ] as [ForgeName, string][]) {
    test(`${forge}: a pull request without a creation time was opened when its delivery arrived, which the delivery says`, async () => {
      const s = await connectedScenario(service, { forge })
      const head = commitPull(s, 7, { [p]: '1\n' })
      const { body, headers } = s.forge.pull({ action: 'opened', number: 7, head, headBranch: 'pull-7' })
      const [parent, name] = field.split('.') as [string, string]
      const payload = JSON.parse(body.toString())
      delete payload[parent][name]
      const event = Object.entries(headers).find(([header]) => /event(-key)?$/.test(header))?.[1] as string
      const send = () => s.deliver(s.forge.signed(event, Buffer.from(JSON.stringify(payload))))
      const receivedAt = service.now
      await send()
      assert.partialDeepStrictEqual(await deliveriesOf(s), [
        { state: 'done', error: `the payload has no ${field}: the time of receipt is used instead` },
      ])
      // Sent again by the forge, it is the same event.
      service.now += 60_000
      await send()
      const [, opened, ...others] = await s.history()
      assert.deepEqual(
        [opened?.action, opened?.created_at, others],
        ['pr_opened', new Date(receivedAt).toISOString(), []],
      )
    })
  }
})
