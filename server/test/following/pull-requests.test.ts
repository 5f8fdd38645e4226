import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob } from '../../../testing/git-repository.ts'
import { repositoryPage } from '../../../testing/payloads/facts.ts'
import { connectedScenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { commitPull, pushPull, scenarioWithPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

onOneEngine('Pull requests', (engine) => {
  const service = useService(engine)

  test('an opened pull request becomes an entry with its author, head commit and branch', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    const { id: _, ...entry } = (await s.history()).at(-1) as { id: number }
    assert.deepEqual(entry, {
      action: 'pr_opened',
      user: bob,
      commit_sha: head,
      pr_number: 7,
      pr_url: `${repositoryPage('github')}/pull/7`,
      branch_name: 'feature',
      created_at: '2026-11-02T10:00:00.000Z',
    })
  })

  test('a pull request closed without a merge has its head commit, not the test merge commit', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    const closing = {
      action: 'closed',
      number: 7,
      head,
      testMergeCommit: 'c'.repeat(40),
      at: '2026-11-03T00:00:00Z',
    } as const
    await s.deliver(s.forge.pull(closing))
    const entry = (await s.history()).at(-1)
    assert.deepEqual(
      [entry?.action, entry?.commit_sha, entry?.created_at],
      ['pr_closed', head, '2026-11-03T00:00:00.000Z'],
    )
  })

  test('a contradictory close adds no entry until git shows the merge', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened, s.forge.pull({ action: 'unclear', number: 7, head }))
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
    const merge = s.git.merge('pull-7', 'Merge it', { at: '2026-11-03T00:00:00Z' })
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(merge)} #7`,
    ])
  })

  test('a pull request that is opened, closed, reopened and merged has three entries', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    await s.deliver(s.forge.pull({ action: 'closed', number: 7, head, at: '2026-11-02T11:00:00Z' }))
    await s.deliver(s.forge.pull({ action: 'reopened', number: 7, head, at: '2026-11-02T12:00:00Z' }))
    const merge = s.git.merge('pull-7', 'Merge it')
    s.git.push()
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, at: '2026-11-02T13:00:00Z' }))
    assert.deepEqual(
      (await s.history()).slice(1).map(({ action }) => action),
      ['pr_opened', 'pr_closed', 'pr_merged'],
    )
  })

  test('a pull request that is closed twice has two pr_closed entries', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    const openedAt = '2026-11-02T10:00:00Z'
    await s.deliver(
      opened,
      s.forge.pull({ action: 'closed', number: 7, head, openedAt, at: '2026-11-02T11:00:00Z' }),
      s.forge.pull({ action: 'reopened', number: 7, head, openedAt, at: '2026-11-02T12:00:00Z' }),
      s.forge.pull({ action: 'closed', number: 7, head, openedAt, at: '2026-11-02T13:00:00Z' }),
    )
    assert.deepEqual(
      (await s.history()).slice(1).map(({ action, created_at }) => `${action} ${created_at}`),
      [
        'pr_opened 2026-11-02T10:00:00.000Z',
        'pr_closed 2026-11-02T11:00:00.000Z',
        'pr_closed 2026-11-02T13:00:00.000Z',
      ],
    )
  })

  test('a draft that becomes ready for review has one pr_opened entry', async () => {
    const { s, head } = await scenarioWithPull(service)
    await s.deliver(
      s.forge.pull({ action: 'draft_opened', number: 7, head }),
      s.forge.pull({ action: 'ready_for_review', number: 7, head }),
      s.forge.pull({ action: 'labeled', number: 7, head }),
    )
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
  })

  for (const forge of ['github', 'gitea', 'gitlab'] as const) {
    test(`a pull request retargeted to the default branch is opened at that time, on ${forge}`, async () => {
      const { s, head } = await scenarioWithPull(service, { forge })
      const openedAt = '2026-11-02T10:00:00Z'
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, base: 'develop', openedAt }))
      assert.equal((await s.summary()).length, 1)
      const retargeted = { action: 'retargeted', number: 7, head, base: 'main', previousBase: 'develop' } as const
      await s.deliver(s.forge.pull({ ...retargeted, openedAt, at: '2026-11-02T12:00:00Z' }))
      assert.equal((await s.history()).at(-1)?.created_at, '2026-11-02T12:00:00.000Z')
      const merge = s.git.merge('pull-7', 'Merge it')
      s.git.push()
      await s.deliver(
        s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, openedAt, at: '2026-11-02T13:00:00Z' }),
      )
      assert.deepEqual((await s.summary()).slice(1), [
        `pr_opened ${shortSha(head)} #7`,
        `pr_merged ${shortSha(merge)} #7`,
      ])
    })
  }

  test('a pull request into another branch adds no entry, but the one that merges that branch does', async () => {
    const { s, head } = await scenarioWithPull(service)
    s.git.switchTo('develop', 'main')
    const side = s.git.merge('pull-7', 'Merge pull request #7 from acme/pull-7')
    s.git.push()
    const into = { number: 7, head, base: 'develop' } as const
    await s.deliver(
      s.forge.pull({ ...into, action: 'opened' }),
      s.forge.pull({ ...into, action: 'merged', mergeCommit: side }),
    )
    assert.equal((await s.summary()).length, 1)
    s.git.push('develop:refs/pull/8/head')
    s.git.switchTo('main')
    const merge = s.git.merge('develop', 'Merge pull request #8 from acme/develop')
    s.git.push()
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 8, head: side, headBranch: 'develop', mergeCommit: merge }),
    )
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(side)} #8`,
      `pr_merged ${shortSha(merge)} #8`,
    ])
  })

  test('a prompt that a later commit touches gets its pr_opened entry then, and others no second one', async () => {
    const { s, head, opened } = await scenarioWithPull(service)
    await s.deliver(opened)
    s.git.switchTo('pull-7')
    const later = s.git.commit('Also q', { [q]: 'q\n' }, { author: ada })
    pushPull(s, 7)
    await s.deliver(
      s.forge.pull({
        action: 'updated',
        number: 7,
        head: later,
        openedAt: '2026-11-02T10:00:00Z',
        at: '2026-11-02T11:00:00Z',
      }),
    )
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
    const entry = (await s.history(q)).at(-1)
    assert.deepEqual(
      [entry?.action, entry?.commit_sha, entry?.created_at, entry?.user],
      ['pr_opened', later, '2026-11-02T11:00:00.000Z', ada],
    )
  })

  test('the branch of a deleted fork is named by its owner, even if it is called main', async () => {
    const { s, head } = await scenarioWithPull(service)
    const fork = { owner: 'stranger', deleted: true }
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, headBranch: 'main', fork }))
    const entry = (await s.history()).at(-1)
    assert.deepEqual([entry?.action, entry?.branch_name], ['pr_opened', 'stranger:main'])
  })

  test('a prompt is found among the 3,500 files of a pull request', async () => {
    const s = await connectedScenario(service)
    const files = Object.fromEntries(Array.from({ length: 3_500 }, (_, i) => [`other/${i}.txt`, 'x\n']))
    const head = commitPull(s, 7, { ...files, [p]: 'found\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
  })

  test('an entry from GitLab has its author from git and an ISO date, although GitLab hides addresses and formats dates differently', async () => {
    const { s, head } = await scenarioWithPull(service, { forge: 'gitlab' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, openedAt: '2023-12-05T18:43:00Z' }))
    const entry = (await s.history()).find(({ action }) => action === 'pr_opened')
    assert.deepEqual([entry?.user, entry?.created_at], [bob, '2023-12-05T18:43:00.000Z'])
  })

  test('a pull request by a deleted account has the author from git', async () => {
    const { s, head } = await scenarioWithPull(service)
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, author: null, actor: null }))
    const entry = (await s.history()).at(-1)
    assert.deepEqual(entry?.user, bob)
    const { data } = await s.get(`/prompts/${await s.promptId(p)}/history/${entry?.id}`)
    assert.equal((data as { actor: string }).actor, 'ghost')
  })
})
