import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob, web } from '../../../testing/git-repository.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import { connectedScenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { commitPull, pushPull, scenarioWithPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

onOneEngine('Merged pull requests', (engine) => {
  const service = useService(engine)

  for (const first of ['push', 'merge'] as const) {
    test(`a merge commit becomes one pr_merged entry when the ${first} is delivered first`, async () => {
      const { s, head, opened } = await scenarioWithPull(service)
      await s.deliver(opened)
      const before = s.git.head()
      const merge = s.git.merge('pull-7', 'Any message', { committer: web })
      s.git.push()
      const closed = s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, at: '2026-11-02T11:00:00Z' })
      const pushed = s.pushDelivery('main', before)
      const deliveries = first === 'push' ? [pushed, closed] : [closed, pushed]
      await s.deliver(deliveries[0] as Delivery)
      if (first === 'push') assert.equal((await s.summary()).length, 2, 'no entry before the merge is known')
      await s.advance(5)
      await s.deliver(deliveries[1] as Delivery)
      await s.advance(60)
      assert.deepEqual((await s.summary()).slice(1), [
        `pr_opened ${shortSha(head)} #7`,
        `pr_merged ${shortSha(merge)} #7`,
      ])
      const entry = (await s.history()).at(-1)
      assert.equal(entry?.created_at, '2026-11-02T11:00:00.000Z')
      assert.equal(entry?.branch_name, 'main')
      assert.deepEqual(entry?.user, bob)
    })
  }

  test('a deployed entry becomes pr_merged with the same id when the forge reports the merge', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    const merge = s.git.squash('pull-7', 'A title of its own')
    await s.push()
    await s.advance(11)
    const guessed = (await s.history()).find(({ commit_sha }) => commit_sha === merge)
    assert.equal(guessed?.action, 'deployed')
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge }))
    const known = (await s.history()).find(({ commit_sha }) => commit_sha === merge)
    assert.deepEqual([known?.id, known?.action], [guessed?.id, 'pr_merged'])
  })

  test("a squash has its own author, not that of a maintainer's last commit, as after a backfill", async () => {
    const { s } = await scenarioWithPull(service)
    s.git.switchTo('pull-7')
    s.git.commit('Fix a typo', { [p]: 'Be kinder!\n' }, { author: ada, committer: ada })
    pushPull(s, 7)
    const head = s.git.head()
    s.git.switchTo('main')
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    const squashed = s.git.squash('pull-7', 'Be kinder (#7)', { author: bob, committer: web })
    await s.push()
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: squashed }))
    const live = (await s.history()).at(-1)
    assert.deepEqual([live?.action, live?.commit_sha, live?.user], ['pr_merged', squashed, bob])
  })

  test('a squash merge without a number in its title is a pr_merged entry', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'A title of its own', { author: bob, committer: web })
    s.git.push()
    await s.deliver(s.pushDelivery('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: squashed }))
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(squashed)} #7`,
    ])
  })

  test('a rebase merge of three commits is one pr_merged entry with the last commit', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [p]: '1\n' }, { [p]: '2\n' }, { 'README.md': 'y\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, commitCount: 3 }))
    const direct = s.git.commit('Direct', { [q]: 'q\n' })
    const before = s.git.head()
    const landed = s.git.rebase('pull-7', { committer: web })
    s.git.push()
    await s.deliver(s.pushDelivery('main', before))
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: landed[2] as string, commitCount: 3 }),
    )
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(landed[2] as string)} #7`,
    ])
    assert.deepEqual((await s.summary(q)).slice(1), [`deployed ${shortSha(direct)}`])
  })

  for (const method of ['merge', 'rebase'] as const) {
    test(`a change that is undone before the ${method} has a pr_opened entry but no pr_merged entry`, async () => {
      const s = await connectedScenario(service)
      const head = commitPull(s, 7, { [p]: 'new\n', [q]: 'new\n' })
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
      s.git.switchTo('pull-7')
      const later = s.git.commit('Take back', { [p]: 'Be kind.\n' }, { author: bob })
      pushPull(s, 7)
      s.git.switchTo('main')
      if (method === 'rebase') s.git.commit('Direct', { 'README.md': 'z\n' })
      const landing = method === 'merge' ? s.git.merge('pull-7', 'Merge it') : (s.git.rebase('pull-7').at(-1) as string)
      s.git.push()
      await s.deliver(
        s.forge.pull({ action: 'updated', number: 7, head: later, at: '2026-11-05T00:00:00Z' }),
        s.forge.pull({ action: 'merged', number: 7, head: later, mergeCommit: landing, at: '2026-11-06T00:00:00Z' }),
      )
      assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
      assert.deepEqual((await s.summary(q)).slice(1), [
        `pr_opened ${shortSha(head)} #7`,
        `pr_merged ${shortSha(landing)} #7`,
      ])
    })
  }

  test('a fast-forward merge on GitLab, which reports no merge commit, is found in git', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    const head = commitPull(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(s.pushDelivery('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }))
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`, `pr_merged ${shortSha(head)} #7`])
  })

  test('a squash merge on GitLab, which reports no merge commit, is found in git', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    const head = commitPull(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    s.git.commit('Direct', { [q]: 'q\n' })
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'Change it', { author: bob })
    s.git.push()
    await s.deliver(
      s.pushDelivery('main', before),
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }),
    )
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(squashed)} #7`,
    ])
  })

  test('a merge that git does not show yet is retried until it does', async () => {
    const { s, head, opened } = await scenarioWithPull(service, { forge: 'gitlab' })
    await s.deliver(opened)
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }))
    assert.deepEqual(await s.deliveryStates(), ['pending', 'done'])
    const squashed = s.git.squash('pull-7', 'Change it')
    s.git.push()
    await s.advance(3)
    assert.deepEqual(await s.deliveryStates(), ['done', 'done'])
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(squashed)} #7`,
    ])
  })

  test('hashes that Bitbucket shortens are stored in full', async () => {
    const { s, head } = await scenarioWithPull(service, { forge: 'bitbucket' })
    const branch = { headBranch: 'pull-7' }
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, ...branch }))
    const merge = s.git.merge('pull-7', 'Merged in pull-7 (pull request #7)')
    s.git.push()
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, ...branch }))
    assert.deepEqual(
      (await s.history()).slice(1).map(({ commit_sha }) => commit_sha),
      [head, merge],
    )
  })

  test('pushing the commits of a pull request to the default branch merges it', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, commitCount: 2 }))
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(s.pushDelivery('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: head, commitCount: 2 }))
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`, `pr_merged ${shortSha(head)} #7`])
  })

  test('two pull requests that land in one push have separate entries', async () => {
    const s = await connectedScenario(service)
    const seven = commitPull(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    const eight = commitPull(s, 8, { [q]: '1\n' }, { [q]: '2\n' })
    const before = s.git.head()
    s.git.commit('Direct', { 'README.md': 'z\n' })
    const first = s.git.rebase('pull-7').at(-1) as string
    const second = s.git.rebase('pull-8').at(-1) as string
    s.git.push()
    await s.deliver(
      s.pushDelivery('main', before),
      s.forge.pull({ action: 'merged', number: 8, head: eight, mergeCommit: second, commitCount: 2 }),
      s.forge.pull({ action: 'merged', number: 7, head: seven, mergeCommit: first, commitCount: 2 }),
    )
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(seven)} #7`,
      `pr_merged ${shortSha(first)} #7`,
    ])
    assert.deepEqual((await s.summary(q)).slice(1), [
      `pr_opened ${shortSha(eight)} #8`,
      `pr_merged ${shortSha(second)} #8`,
    ])
  })
})
