import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob, web } from '../../../testing/git-repository.ts'
import { connectedScenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { gitRuns } from '../../src/git/run.ts'
import { commitPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const zeros = '0'.repeat(40)

onOneEngine('Pushes', (engine) => {
  const service = useService(engine)

  test('a commit pushed to the default branch becomes one deployed entry', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('Kinder', { [p]: 'Be very kind.\n' }, { author: bob })
    await s.push()
    const { id: _, ...entry } = (await s.history()).at(-1) as { id: number }
    assert.deepEqual(entry, {
      action: 'deployed',
      user: bob,
      commit_sha: sha,
      pr_number: null,
      pr_url: null,
      branch_name: 'main',
      created_at: s.git.dateOf(sha),
    })
    assert.equal((await s.history('prompts/q.md')).length, 1)
  })

  test('only the commits of a push that touch the prompt become entries, in their order', async () => {
    const s = await connectedScenario(service)
    const first = s.git.commit('One', { [p]: '1\n' })
    s.git.commit('Other', { 'README.md': 'y\n' })
    const third = s.git.commit('Three', { [p]: '3\n' })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(first)}`, `deployed ${shortSha(third)}`])
  })

  test('connecting a small repository starts six git processes, a push four, a poll one, and a backlog of pushes hardly more', async () => {
    const before = gitRuns.started
    const s = await connectedScenario(service)
    // Two lists of refs, fetch, messages, files, texts.
    assert.equal(gitRuns.started - before, 6)
    const runsFor = async (pushes: number) => {
      const deliveries = Array.from({ length: pushes }, (_, i) => {
        const before = s.git.head()
        const after = s.git.commit(`Push ${i}`, { [p]: `${s.git.head()}\n` })
        return s.forge.push({ before, after, commits: [{ sha: after }] })
      })
      s.git.push()
      const { started } = gitRuns
      await s.deliver(...deliveries)
      return gitRuns.started - started
    }
    await runsFor(1)
    const one = await runsFor(1)
    assert.equal(one, 4)
    assert.ok((await runsFor(10)) <= 2 * one)
    assert.equal((await s.history()).length, 13)
    const { started } = gitRuns
    await s.advance(3_700)
    assert.equal(gitRuns.started - started, 1)
  })

  test('a push to another branch adds no entry', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('feature', 'main')
    s.git.commit('Try', { [p]: 'try\n' })
    await s.push('feature')
    assert.equal((await s.summary()).length, 1)
  })

  test('tags and deleted branches are accepted and add no entry', async () => {
    const s = await connectedScenario(service)
    const head = s.git.head()
    await s.deliver(
      s.forge.push({ ref: 'refs/tags/v1', before: null, after: head }),
      s.forge.push({ ref: 'refs/tags/v1', before: head, after: null }),
      s.forge.push({ branch: 'gone', before: head, after: null }),
    )
    assert.equal((await s.summary()).length, 1)
    assert.deepEqual(new Set(await s.deliveryStates()), new Set(['ignored', 'done']))
  })

  test('the first push to an empty repository is read from its root commit', async () => {
    const s = await connectedScenario(service, { prepare: () => {} })
    assert.equal(s.repository.tip, null)
    const first = s.git.commit('One', { [p]: '1\n', 'prompts/q.md': '1\n' })
    const second = s.git.commit('Two', { [p]: '2\n' })
    await s.push()
    assert.deepEqual(await s.summary(), [`deployed ${shortSha(first)}`, `deployed ${shortSha(second)}`])
    assert.deepEqual(await s.summary('prompts/q.md'), [`deployed ${shortSha(first)}`])
  })

  test('a delivery that arrives twice is stored and processed once', async () => {
    const s = await connectedScenario(service)
    s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    const delivery = s.pushDelivery('main', null)
    await s.deliver(delivery)
    const before = await s.history()
    await s.deliver(delivery)
    assert.deepEqual(await s.history(), before)
    assert.equal((await s.deliveryStates()).length, 1)
  })

  test('a replay under a new delivery id changes nothing', async () => {
    const s = await connectedScenario(service, { forge: 'gitea' })
    s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    const facts = { before: null, after: s.git.head() }
    await s.deliver(s.forge.push(facts))
    const before = await s.history()
    await s.deliver(s.forge.push(facts))
    assert.equal((await s.deliveryStates()).length, 2)
    assert.deepEqual(await s.history(), before)
  })

  test('the same push reported by two webhooks becomes one entry', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    const facts = { before: null, after: sha }
    await s.deliver(s.forge.push(facts), s.forge.push(facts))
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('an edit in the web interface of the forge becomes a deployed entry after a short wait', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('Update p.md', { [p]: 'edited\n' }, { committer: web })
    await s.push()
    assert.equal((await s.summary()).length, 1, 'it may be a merge whose delivery is still on its way')
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a number in a message that is no pull request creates none', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('fix typo (#12)', { [p]: 'typo\n' })
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a revert belongs to the pull request that its subject ends with, or to none', async () => {
    const s = await connectedScenario(service)
    for (const number of [10, 11]) commitPull(s, number, { [p]: `${number}\n` })
    const merged = s.git.commit('Revert "x (#10)" (#11)', { [p]: 'a\n' })
    const direct = s.git.commit('Revert "x (#10)"', { [p]: 'b\n' })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_merged ${shortSha(merged)} #11`,
      `deployed ${shortSha(direct)}`,
    ])
  })

  test('a prompt in the third of 30 commits is found, although GitLab lists only the newest 20', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    let sha = ''
    for (let i = 1; i <= 30; i++) {
      const commit = s.git.commit(`Commit ${i}`, i === 3 ? { [p]: '3\n' } : { 'README.md': `${i}\n` })
      if (i === 3) sha = commit
    }
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a prompt in the oldest of 7 commits is found, although Gitea lists only the newest 5', async () => {
    const s = await connectedScenario(service, { forge: 'gitea' })
    const sha = s.git.commit('Oldest', { [p]: 'old\n' })
    for (let i = 0; i < 6; i++) s.git.commit(`Commit ${i}`, { 'README.md': `${i}\n` })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a forced push keeps the entries of dropped commits as orphaned and adds the new ones', async () => {
    const s = await connectedScenario(service)
    const start = s.git.head()
    const dropped = s.git.commit('X', { [p]: 'x\n' })
    await s.push()
    s.git.git('reset', '--quiet', '--hard', start)
    const added = s.git.commit('Y', { [p]: 'y\n' })
    await s.advance(60)
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(dropped)}`, `deployed ${shortSha(added)}`])
    const edits = await service.store.facts.edits(s.repository, { commits: [dropped, added] })
    assert.deepEqual(
      edits.map(({ commitSha, orphanedAt }) => [commitSha, orphanedAt !== null]),
      [
        [dropped, true],
        [added, false],
      ],
    )
    const live = await s.get(`/prompts/${await s.promptId(p)}/live`)
    assert.equal((live.data as { content: string }).content, 'y\n')
  })

  test('a forced push back in time adds no entry and makes the earlier version live again', async () => {
    const s = await connectedScenario(service)
    const start = s.git.head()
    const dropped = s.git.commit('X', { [p]: 'x\n' })
    await s.push()
    s.git.git('reset', '--quiet', '--hard', start)
    await s.advance(60)
    s.git.push()
    await s.deliver(s.forge.push({ before: dropped, after: start, forced: true }))
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(dropped)}`])
    const id = await s.promptId(p)
    const live = await s.get(`/prompts/${id}/live`)
    assert.equal((live.data as { content: string }).content, 'Be kind.\n')
    const earlier = new Date(service.now - 30_000).toISOString()
    const then = await s.get(`/prompts/${id}/live?at=${earlier}`)
    assert.equal((then.data as { content: string }).content, 'x\n')
  })

  test('reading resumes at the fork point when the last known commit is missing', async () => {
    const s = await connectedScenario(service)
    const first = s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    await s.deliver(s.forge.push({ before: 'f'.repeat(40), after: first }))
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(first)}`])
    // Also when the mirror is created again and the server no longer has the last known commit.
    s.git.git('reset', '--quiet', '--hard', 'HEAD^')
    const second = s.git.commit('Two', { [p]: '2\n' })
    await s.git.push()
    s.git.inRemote('reflog', 'expire', '--expire=now', '--all')
    s.git.inRemote('gc', '--quiet', '--prune=now')
    await rm(`${service.syncContext.dataDir}/mirrors`, { recursive: true })
    await s.deliver(s.forge.push({ before: first, after: second, forced: true }))
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(first)}`, `deployed ${shortSha(second)}`])
  })

  test('a branch merged by hand becomes one deployed entry, and its own commits none', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('work', 'main')
    s.git.commit('a', { [p]: 'a\n' }, { author: bob })
    s.git.commit('b', { [p]: 'b\n' }, { author: bob })
    s.git.switchTo('main')
    const merge = s.git.merge('work', "Merge branch 'work'")
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(merge)}`])
    assert.deepEqual((await s.history()).at(-1)?.user, ada)
  })

  test('renaming the default branch duplicates no entry, and syncing continues', async () => {
    const s = await connectedScenario(service, { gitOptions: { branch: 'master' } })
    s.git.commit('One', { [p]: '1\n' })
    await s.push('master')
    const before = await s.history()
    s.git.git('branch', '--quiet', '--move', 'master', 'main')
    s.git.push('main:main')
    s.git.inRemote('symbolic-ref', 'HEAD', 'refs/heads/main')
    s.git.push(':refs/heads/master')
    const sha = s.git.commit('Two', { [p]: '2\n' })
    s.git.push('main:main')
    await s.deliver(s.forge.push({ branch: 'main', before: null, after: sha, defaultBranch: 'main' }))
    assert.equal(s.repository.defaultBranch, 'main')
    const history = await s.history()
    assert.deepEqual(history.slice(0, -1), before)
    assert.equal(history.at(-1)?.branch_name, 'main')
  })

  test('a commit dated before its parent is recorded, and the commit that landed last is live', async () => {
    const s = await connectedScenario(service)
    const late = s.git.commit('Late', { [p]: 'late\n' }, { at: '2026-03-01T12:00:00Z' })
    const early = s.git.commit('Early', { [p]: 'early\n' }, { at: '2026-03-01T09:00:00Z' })
    await s.push()
    const history = await s.history()
    assert.deepEqual(new Set(history.slice(1).map(({ commit_sha }) => commit_sha)), new Set([late, early]))
    const live = await s.get(`/prompts/${await s.promptId(p)}/live`)
    assert.equal((live.data as { content: string }).content, 'early\n')
    const edits = await service.store.facts.edits(s.repository, { commits: [late, early] })
    assert.deepEqual(
      edits.map(({ commitSha }) => commitSha),
      [late, early],
    )
  })

  test('the author of a commit is the user of its entry, and the pusher its actor', async () => {
    const s = await connectedScenario(service)
    s.git.commit('One', { [p]: '1\n' }, { author: bob })
    await s.push('main', { pusher: 'ada-l' })
    const entry = (await s.history()).at(-1)
    assert.deepEqual(entry?.user, bob)
    const { data } = await s.get(`/prompts/${await s.promptId(p)}/history/${entry?.id}`)
    assert.equal((data as { actor: string }).actor, 'ada-l')
  })

  test('the hourly poll finds commits that no delivery reported', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('One', { [p]: '1\n' })
    s.git.push('main:main', 'main:a', 'main:b', 'main:c')
    const isDue = async () =>
      (await service.store.repositories.due(service.now)).some(({ id }) => id === s.repository.id)
    assert.equal(await isDue(), false)
    service.now += 3_600_000
    assert.equal(await isDue(), true)
    await s.sync()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a commit that references an already merged pull request is a deployed entry', async () => {
    const s = await connectedScenario(service)
    commitPull(s, 12, { [p]: '1\n' })
    const merge = s.git.commit('Better (#12)', { [p]: '1\n' }, { committer: web })
    await s.push()
    const direct = s.git.commit('follow-up (#12)', { [p]: '2\n' })
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`pr_merged ${shortSha(merge)} #12`, `deployed ${shortSha(direct)}`])
  })

  test('an empty commit adds no entry', async () => {
    const s = await connectedScenario(service)
    s.git.commit('Nothing')
    await s.push()
    assert.equal((await s.summary()).length, 1)
    assert.equal(s.repository.tip, s.git.head())
    assert.notEqual(s.repository.tip, zeros)
  })
})
