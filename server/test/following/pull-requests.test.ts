import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { ada, bob, web } from '../../../testing/git-repository.ts'
import { pageOf } from '../../../testing/payloads.ts'
import { connected, type Scenario, type ScenarioOptions, short } from '../../../testing/scenario.ts'
import { type TestService, useService } from '../../../testing/service.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

/** A repository with a branch of Bob's that changes the prompt, pushed as pull request 7. */
async function withPull(service: TestService, options: ScenarioOptions = {}) {
  const s = await connected(service, options)
  const head = branchOf(s, 7, { [p]: 'Be very kind.\n' })
  return { s, head, opened: s.forge.pull({ action: 'opened', number: 7, head, openedAt: '2026-11-02T10:00:00Z' }) }
}

/** Commits to a new branch from the default one and pushes it as the head of a pull request. Gives the head. */
function branchOf(s: Scenario, number: number, ...commits: Record<string, string | null>[]): string {
  s.git.switchTo(`pull-${number}`, 'main')
  for (const [i, files] of commits.entries()) s.git.commit(`Change ${number}.${i}`, files, { author: bob })
  const head = s.git.head()
  pushPull(s, number)
  s.git.switchTo('main')
  return head
}

function pushPull(s: Scenario, number: number): void {
  const refs = { gitlab: 'merge-requests', github: 'pull', gitea: 'pull', forgejo: 'pull', bitbucket: null }
  const place = refs[s.forgeName]
  const branch = `pull-${number}`
  if (place === null) s.git.push(`${branch}:${branch}`)
  else s.git.push(`${branch}:refs/${place}/${number}/head`)
}

onEachEngine('Pull requests: history', (engine) => {
  const service = useService(engine)

  test('tells of a pull request that was opened: who wrote it, its head, its branch', async () => {
    const { s, head, opened } = await withPull(service)
    await s.deliver(opened)
    const { id: _, ...entry } = (await s.history()).at(-1) as { id: number }
    assert.deepEqual(entry, {
      action: 'pr_opened',
      user: bob,
      commit_sha: head,
      pr_number: 7,
      pr_url: `${pageOf('github')}/pull/7`,
      branch_name: 'feature',
      created_at: '2026-11-02T10:00:00.000Z',
    })
  })

  for (const order of ['push first', 'closed first'] as const) {
    test(`case ${order === 'push first' ? 9 : 10}: a merge commit, ${order}, is one pr_merged entry and no other`, async () => {
      const { s, head, opened } = await withPull(service)
      await s.deliver(opened)
      const before = s.git.head()
      const merge = s.git.merge('pull-7', 'Any message', { committer: web })
      s.git.push()
      const closed = s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, at: '2026-11-02T11:00:00Z' })
      const pushed = s.pushed('main', before)
      const [first, second] = order === 'push first' ? [pushed, closed] : [closed, pushed]
      await s.deliver(first)
      if (order === 'push first') assert.equal((await s.story()).length, 2, 'nothing is said before it is known')
      await s.after(5)
      await s.deliver(second)
      await s.after(60)
      assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(merge)} #7`])
      const entry = (await s.history()).at(-1)
      assert.equal(entry?.created_at, '2026-11-02T11:00:00.000Z')
      assert.equal(entry?.branch_name, 'main')
      assert.deepEqual(entry?.user, bob)
    })
  }

  test('case 9: an entry that was taken for deployed becomes pr_merged and keeps its id', async () => {
    const { s, head, opened } = await withPull(service)
    await s.deliver(opened)
    const merge = s.git.merge('pull-7', 'Any message')
    await s.push()
    await s.after(11)
    const guessed = (await s.history()).find(({ commit_sha }) => commit_sha === merge)
    assert.equal(guessed?.action, 'deployed')
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge }))
    const known = (await s.history()).find(({ commit_sha }) => commit_sha === merge)
    assert.deepEqual([known?.id, known?.action], [guessed?.id, 'pr_merged'])
  })

  test('case 11: a squash merge whose title names no number is pr_merged', async () => {
    const { s, head, opened } = await withPull(service)
    await s.deliver(opened)
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'A title of its own', { author: bob, committer: web })
    s.git.push()
    await s.deliver(s.pushed('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: squashed }))
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(squashed)} #7`])
  })

  test('case 12: a rebase merge of three commits is one pr_merged entry at the last of them', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '1\n' }, { [p]: '2\n' }, { 'README.md': 'y\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, commitCount: 3 }))
    const direct = s.git.commit('Direct', { [q]: 'q\n' })
    const before = s.git.head()
    const landed = s.git.rebase('pull-7', { committer: web })
    s.git.push()
    await s.deliver(s.pushed('main', before))
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: landed[2] as string, commitCount: 3 }),
    )
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [
      `pr_opened ${short(head)} #7`,
      `pr_merged ${short(landed[2] as string)} #7`,
    ])
    assert.deepEqual((await s.story(q)).slice(1), [`deployed ${short(direct)}`])
  })

  test('case 17: closed without merging has the head of the pull request, not the merge that was tried', async () => {
    const { s, head, opened } = await withPull(service)
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

  test('case 18: a close that contradicts itself is nothing until git shows the merge', async () => {
    const { s, head, opened } = await withPull(service)
    await s.deliver(opened, s.forge.pull({ action: 'unclear', number: 7, head }))
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
    const merge = s.git.merge('pull-7', 'Merge it', { at: '2026-11-03T00:00:00Z' })
    await s.push()
    await s.after(11)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(merge)} #7`])
  })

  test('case 19: opened, closed, reopened and merged are three entries', async () => {
    const { s, head, opened } = await withPull(service)
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

  test('case 20: closed twice is two entries', async () => {
    const { s, head, opened } = await withPull(service)
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

  test('case 21: a draft that becomes ready is opened once', async () => {
    const { s, head } = await withPull(service)
    await s.deliver(
      s.forge.pull({ action: 'draft_opened', number: 7, head }),
      s.forge.pull({ action: 'ready_for_review', number: 7, head }),
      s.forge.pull({ action: 'labeled', number: 7, head }),
    )
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
  })

  for (const forge of ['github', 'gitea', 'gitlab'] as const) {
    test(`case 22: a pull request that is turned to the default branch is opened then, on ${forge}`, async () => {
      const { s, head } = await withPull(service, { forge })
      const openedAt = '2026-11-02T10:00:00Z'
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, base: 'develop', openedAt }))
      assert.equal((await s.story()).length, 1)
      const turned = { action: 'retargeted', number: 7, head, base: 'main', previousBase: 'develop' } as const
      await s.deliver(s.forge.pull({ ...turned, openedAt, at: '2026-11-02T12:00:00Z' }))
      assert.equal((await s.history()).at(-1)?.created_at, '2026-11-02T12:00:00.000Z')
      const merge = s.git.merge('pull-7', 'Merge it')
      s.git.push()
      await s.deliver(
        s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge, openedAt, at: '2026-11-02T13:00:00Z' }),
      )
      assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(merge)} #7`])
    })
  }

  test('case 23: a pull request into another branch is nothing; the one that brings that branch is', async () => {
    const { s, head } = await withPull(service)
    s.git.switchTo('develop', 'main')
    const side = s.git.merge('pull-7', 'Merge pull request #7 from acme/pull-7')
    s.git.push()
    const into = { number: 7, head, base: 'develop' } as const
    await s.deliver(
      s.forge.pull({ ...into, action: 'opened' }),
      s.forge.pull({ ...into, action: 'merged', mergeCommit: side }),
    )
    assert.equal((await s.story()).length, 1)
    s.git.push('develop:refs/pull/8/head')
    s.git.switchTo('main')
    const merge = s.git.merge('develop', 'Merge pull request #8 from acme/develop')
    s.git.push()
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 8, head: side, headBranch: 'develop', mergeCommit: merge }),
    )
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(side)} #8`, `pr_merged ${short(merge)} #8`])
  })

  test('case 24: a prompt that a later commit touches is opened then, others are not again', async () => {
    const { s, head, opened } = await withPull(service)
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
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
    const entry = (await s.history(q)).at(-1)
    assert.deepEqual(
      [entry?.action, entry?.commit_sha, entry?.created_at, entry?.user],
      ['pr_opened', later, '2026-11-02T11:00:00.000Z', ada],
    )
  })

  for (const method of ['merge', 'rebase'] as const) {
    test(`case 25: what a pull request takes back before its ${method} was opened, and is not merged`, async () => {
      const s = await connected(service)
      const head = branchOf(s, 7, { [p]: 'new\n', [q]: 'new\n' })
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
      assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
      assert.deepEqual((await s.story(q)).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(landing)} #7`])
    })
  }

  test('case 26: a fork whose branch is called main, and which is gone, is told by its owner', async () => {
    const { s, head } = await withPull(service)
    const fork = { owner: 'stranger', deleted: true }
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, headBranch: 'main', fork }))
    const entry = (await s.history()).at(-1)
    assert.deepEqual([entry?.action, entry?.branch_name], ['pr_opened', 'stranger:main'])
  })

  test('case 27: the prompt is found among 3,500 files', async () => {
    const s = await connected(service)
    const files = Object.fromEntries(Array.from({ length: 3_500 }, (_, i) => [`other/${i}.txt`, 'x\n']))
    const head = branchOf(s, 7, { ...files, [p]: 'found\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
  })

  test('case 30: hashes that Bitbucket shortens are stored whole', async () => {
    const { s, head } = await withPull(service, { forge: 'bitbucket' })
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

  test('case 31: a fast-forward merge on GitLab, which names no commit, is found in git', async () => {
    const s = await connected(service, { forge: 'gitlab' })
    const head = branchOf(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(s.pushed('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }))
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(head)} #7`])
  })

  test('case 31: a squash merge on GitLab, which names no commit, is found in git', async () => {
    const s = await connected(service, { forge: 'gitlab' })
    const head = branchOf(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    s.git.commit('Direct', { [q]: 'q\n' })
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'Change it', { author: bob })
    s.git.push()
    await s.deliver(s.pushed('main', before), s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }))
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(squashed)} #7`])
  })

  test('case 31: a merge that git does not show in time is tried again, then left open', async () => {
    const { s, head, opened } = await withPull(service, { forge: 'gitlab' })
    await s.deliver(opened)
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }))
    assert.deepEqual(await s.deliveryStates(), ['pending', 'done'])
    const squashed = s.git.squash('pull-7', 'Change it')
    s.git.push()
    await s.after(3)
    assert.deepEqual(await s.deliveryStates(), ['done', 'done'])
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(squashed)} #7`])
  })

  test('case 32 and 33: GitLab hides mail addresses and writes dates in its own way', async () => {
    const { s, head } = await withPull(service, { forge: 'gitlab' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, openedAt: '2023-12-05T18:43:00Z' }))
    const entry = (await s.history()).find(({ action }) => action === 'pr_opened')
    assert.deepEqual([entry?.user, entry?.created_at], [bob, '2023-12-05T18:43:00.000Z'])
  })

  test('case 53: pushing the commits of a pull request straight to the default branch merges it', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, commitCount: 2 }))
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(s.pushed('main', before))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: head, commitCount: 2 }))
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(head)} #7`])
  })

  test('case 54: two pull requests in one push are told apart', async () => {
    const s = await connected(service)
    const seven = branchOf(s, 7, { [p]: '1\n' }, { [p]: '2\n' })
    const eight = branchOf(s, 8, { [q]: '1\n' }, { [q]: '2\n' })
    const before = s.git.head()
    s.git.commit('Direct', { 'README.md': 'z\n' })
    const first = s.git.rebase('pull-7').at(-1) as string
    const second = s.git.rebase('pull-8').at(-1) as string
    s.git.push()
    await s.deliver(
      s.pushed('main', before),
      s.forge.pull({ action: 'merged', number: 8, head: eight, mergeCommit: second, commitCount: 2 }),
      s.forge.pull({ action: 'merged', number: 7, head: seven, mergeCommit: first, commitCount: 2 }),
    )
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(seven)} #7`, `pr_merged ${short(first)} #7`])
    assert.deepEqual((await s.story(q)).slice(1), [`pr_opened ${short(eight)} #8`, `pr_merged ${short(second)} #8`])
  })

  test('case 57: a pull request whose author is gone has the user that git knows', async () => {
    const { s, head } = await withPull(service)
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, author: null, actor: null }))
    const entry = (await s.history()).at(-1)
    assert.deepEqual(entry?.user, bob)
    const { data } = await s.get(`/prompts/${await s.promptId(p)}/history/${entry?.id}`)
    assert.equal((data as { actor: string }).actor, 'ghost')
  })
})
