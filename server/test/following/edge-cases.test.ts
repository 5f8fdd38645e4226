import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { bob, web } from '../../../testing/git-repository.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { commitPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const r = 'prompts/r.md'

/** Removes unreachable commits from the server. */
function pruneRemote(s: Scenario): void {
  s.git.inRemote('reflog', 'expire', '--expire=now', '--all')
  s.git.inRemote('gc', '--quiet', '--prune=now')
}

onOneEngine('Edge cases of the history', (engine) => {
  const service = useService(engine)

  test('the entries of a closed pull request stay when its commit is pushed by hand', async () => {
    const s = await connectedScenario(service)
    const start = s.git.head()
    const head = commitPull(s, 7, { [p]: '7\n' })
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'closed', number: 7, head, at: '2026-03-03T00:00:00Z' }),
    )
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    await s.push()
    const expected = [
      `deployed ${shortSha(start)}`,
      `deployed ${shortSha(head)}`,
      `pr_opened ${shortSha(head)} #7`,
      `pr_closed ${shortSha(head)} #7`,
    ]
    assert.deepEqual((await s.summary()).sort(), expected.sort())
  })

  test('moved prompts keep their identity when the last known commit is missing everywhere', async () => {
    const s = await connectedScenario(service)
    const [first, second] = [await s.promptId(p), await s.promptId(q)]
    s.git.git('mv', p, r)
    s.git.commit('Move')
    s.git.commit('Lost', { [q]: 'lost\n' })
    await s.push()
    const before = (await s.history(r)).length
    s.git.git('reset', '--quiet', '--hard', 'HEAD^')
    s.git.commit('Instead', { [r]: 'instead\n' })
    s.git.push()
    pruneRemote(s)
    await rm(mirrorOf(service.syncContext, s.repository).path, { recursive: true })
    await s.deliver(s.forge.push({ before: null, after: s.git.head() }))
    assert.deepEqual([await s.promptId(r), await s.promptId(q)], [first, second])
    assert.equal((await s.history(r)).length, before + 1)
    assert.deepEqual((await s.paths()).sort(), [q, r])
  })

  test('moved prompts keep their identity when the whole history is rewritten', async () => {
    const s = await connectedScenario(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    s.git.commit('Move')
    await s.push()
    // Like tools that remove a secret from the whole history.
    s.git.git('checkout', '--quiet', '--orphan', 'rewritten')
    s.git.git('rm', '-r', '--quiet', '--cached', '.')
    s.git.git('clean', '--quiet', '-fdx')
    s.git.commit('Start again', { [p]: 'Be kind.\n', [q]: 'Be brief.\n' })
    s.git.git('mv', p, r)
    const last = s.git.commit('Move again')
    s.git.push('rewritten:main')
    await s.deliver(s.forge.push({ before: null, after: last }))
    assert.equal(await s.promptId(r), id)
    assert.deepEqual((await s.paths()).sort(), [q, r])
    assert.equal((await s.summary(r)).at(-1), `deployed ${shortSha(last)}`)
  })

  test('a delivery about missing commits is retried a few times, fails with the reason, and succeeds on redelivery', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('pull-7', 'main')
    const head = s.git.commit('Not pushed yet', { [p]: '7\n' })
    s.git.switchTo('main')
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    assert.deepEqual(await s.deliveryStates(), ['pending'])
    for (const seconds of [3, 11, 61, 301]) await s.advance(seconds)
    const [delivery] = await service.store.deliveries.list(s.repository, 1)
    assert.equal(delivery?.state, 'failed')
    assert.match(delivery?.error ?? '', new RegExp(`commit ${head} of pull request 7 is not in git`))
    s.git.push('pull-7:refs/pull/7/head')
    await service.store.deliveries.redeliver(delivery as NonNullable<typeof delivery>, service.now)
    await s.sync()
    assert.deepEqual(await s.deliveryStates(), ['done'])
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
  })

  test('the hourly poll takes place however many deliveries arrive', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('Lost delivery', { [p]: '1\n' })
    s.git.push()
    for (let i = 0; i < 3; i++) {
      service.now += 50 * 60_000
      await s.deliver(s.forge.push({ branch: 'feature', before: null, after: sha }))
      await s.sync()
    }
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('commits that one forced push drops and another restores are live again, under the same ids', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [p]: '7\n' })
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'Squashed', { author: bob, committer: web })
    s.git.push()
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: squashed }))
    await s.deliver(s.pushDelivery('main', before))
    const history = await s.history()
    s.git.push(`${before}:refs/heads/main`)
    await s.deliver(s.forge.push({ before: squashed, after: before, forced: true }))
    const live = async () => ((await s.get(`/prompts/${await s.promptId(p)}/live`)).data as { content: string }).content
    assert.equal(await live(), 'Be kind.\n')
    await s.advance(60)
    s.git.push('main:main')
    await s.advance(3_600)
    assert.equal(await live(), '7\n')
    assert.deepEqual(await s.history(), history)
  })

  test('stacked pull requests that are rebased have separate entries', async () => {
    for (const order of [0, 1]) {
      const s = await connectedScenario(service)
      const first = commitPull(s, 1, { [p]: '1\n' })
      s.git.switchTo('pull-2', 'pull-1')
      const second = s.git.commit('On top', { [q]: '2\n' }, { author: bob })
      s.git.push('HEAD:refs/pull/2/head')
      s.git.switchTo('main')
      s.git.commit('Meanwhile', { 'README.md': 'y\n' })
      const [landedFirst, landedSecond] = s.git.rebase('pull-2', { committer: web }) as [string, string]
      s.git.push()
      const merged = [
        s.forge.pull({ action: 'merged', number: 1, head: first, mergeCommit: landedFirst, commitCount: 1 }),
        s.forge.pull({ action: 'merged', number: 2, head: second, mergeCommit: landedSecond, commitCount: 2 }),
      ]
      for (const delivery of order === 0 ? merged : merged.reverse()) await s.deliver(delivery)
      const merges = async (path: string) => (await s.summary(path)).filter((entry) => entry.startsWith('pr_merged'))
      assert.deepEqual(await merges(p), [`pr_merged ${shortSha(landedFirst)} #1`])
      assert.deepEqual(await merges(q), [`pr_merged ${shortSha(landedSecond)} #2`])
    }
  })

  test('a merge reported before the default branch has it is recorded once it does', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [p]: '7\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: head }))
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    await s.push()
    await s.advance(60)
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`, `pr_merged ${shortSha(head)} #7`])
  })

  test('a GitLab fast-forward claims all its commits when open, merge and push arrive together', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    const head = commitPull(s, 7, { [p]: '1\n' }, { [q]: '2\n' })
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }),
      s.pushDelivery('main', before),
    )
    for (const path of [p, q]) {
      assert.deepEqual((await s.summary(path)).slice(1), [
        `pr_opened ${shortSha(head)} #7`,
        `pr_merged ${shortSha(head)} #7`,
      ])
    }
  })

  test('a commit with the title of a pull request but another date is not mistaken for its squash', async () => {
    const s = await connectedScenario(service, { forge: 'gitlab' })
    const head = commitPull(s, 7, { [p]: 'Be kind.\nBe seven.\n' })
    const direct = s.git.commit('Update prompt', { [p]: 'Be first.\nBe kind.\n' })
    const squashed = s.git.commit('By the seventh', { [p]: 'Be first.\nBe kind.\nBe seven.\n' })
    s.git.push()
    const merged = { action: 'merged', number: 7, head, mergeCommit: null, title: 'Update prompt' } as const
    await s.deliver(s.forge.pull({ ...merged, at: '2026-09-01T00:00:00Z' }))
    const landed = (await s.summary()).filter((entry) => !entry.startsWith('pr_opened'))
    assert.deepEqual(landed.slice(1), [`deployed ${shortSha(direct)}`, `deployed ${shortSha(squashed)}`])
  })

  test('a closed pull request that added a file has entries once the file lands another way', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [r]: 'new\n' })
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'closed', number: 7, head, at: '2026-03-02T12:00:00Z' }),
    )
    const sha = s.git.commit('By another way', { [r]: 'another\n' })
    await s.push()
    assert.deepEqual(await s.summary(r), [
      `deployed ${shortSha(sha)}`,
      `pr_opened ${shortSha(head)} #7`,
      `pr_closed ${shortSha(head)} #7`,
    ])
  })

  test('a merge of a fork by hand is a deployed entry', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('fork', 'main')
    s.git.commit('a', { [q]: 'a\n' }, { author: bob })
    s.git.commit('b', { [q]: 'b\n' }, { author: bob })
    s.git.switchTo('main')
    const own = s.git.commit('Own', { [p]: 'own\n' })
    await s.push()
    const merge = s.git.merge('fork', "Merge branch 'main' of example.com:stranger/prompts")
    await s.push()
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(own)}`])
    assert.deepEqual((await s.summary(q)).slice(1), [`deployed ${shortSha(merge)}`])
  })

  test('an amended merge commit is the merge of its pull request', async () => {
    const s = await connectedScenario(service)
    commitPull(s, 5, { [p]: '5\n' })
    const first = s.git.commit('Change (#5)', { [p]: '5\n' })
    await s.push()
    s.git.git('reset', '--quiet', '--hard', 'HEAD^')
    const amended = s.git.commit('Change (#5)', { [p]: '55\n' })
    await s.push()
    assert.ok((await s.summary()).includes(`pr_merged ${shortSha(amended)} #5`))
    assert.notEqual(first, amended)
  })

  test('a pull request that is retargeted away and merged elsewhere is settled', async () => {
    const s = await connectedScenario(service)
    const head = commitPull(s, 7, { [p]: '7\n' })
    const merged = { action: 'merged', number: 7, head, mergeCommit: 'a'.repeat(40), base: 'develop' } as const
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ ...merged, at: '2026-03-03T00:00:00Z' }),
    )
    assert.deepEqual(await s.deliveryStates(), ['done', 'done'])
    assert.deepEqual(await Array.fromAsync(service.store.facts.unsettledPulls(s.repository)), [])
  })

  test('an oversized pull request does not block the default branch', async () => {
    const s = await connectedScenario(service)
    const { sizeLimit } = service.syncContext
    service.syncContext.sizeLimit = 3_000_000
    try {
      s.git.switchTo('pull-7', 'main')
      const head = s.git.commit('Large', { 'large.bin': randomBytes(6_000_000), [p]: '7\n' })
      s.git.push('HEAD:refs/pull/7/head')
      s.git.switchTo('main')
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head })).catch(() => {})
      const sha = s.git.commit('Small', { [p]: 'small\n' })
      await s.push().catch(() => {})
      await s.advance(3_600)
      assert.ok((await s.summary()).includes(`deployed ${shortSha(sha)}`))
    } finally {
      service.syncContext.sizeLimit = sizeLimit
    }
  })

  test('commits of few bytes that change many files fill the database up to a limit, which the repository names', async () => {
    const s = await connectedScenario(service)
    const { sizeLimit } = service.syncContext
    service.syncContext.sizeLimit = 200_000
    try {
      const paths = Array.from({ length: 100 }, (_, i) => `prompts/many/${i}.md`)
      const pushChanges = () => {
        for (let i = 0; i < 3; i++) s.git.commit('Change', Object.fromEntries(paths.map((path) => [path, `${i}\n`])))
        return s.push()
      }
      await pushChanges()
      const message = 'the history of the repository exceeds 200000 bytes (REPOSITORY_SIZE_LIMIT)'
      await assert.rejects(pushChanges(), { message })
      const { id, organisationId } = s.repository
      const { historyBytes, lastError } = (await service.store.repositories.find(id)) as Repository
      assert.ok(historyBytes > 120_000 && historyBytes <= 200_000, String(historyBytes))
      assert.equal(lastError, message)
      const sql = `select count(*) as edits from edits where organisation_id = ${organisationId}`
      const [row] = await queryRows(service.url, sql)
      assert.equal(Number(row?.edits), 302)
      assert.equal((await s.summary('prompts/many/7.md')).length, 3)
    } finally {
      service.syncContext.sizeLimit = sizeLimit
    }
  })

  test('a sync succeeds although a killed git left lock files behind', async () => {
    const s = await connectedScenario(service)
    const mirror = mirrorOf(service.syncContext, s.repository).path
    const minuteAgo = new Date(Date.now() - 60_000)
    for (const name of ['packed-refs.lock', 'refs/heads/main.lock', 'HEAD.lock']) {
      await writeFile(join(mirror, name), '')
      await utimes(join(mirror, name), minuteAgo, minuteAgo)
    }
    const sha = s.git.commit('One', { [p]: '1\n' })
    await s.push().catch(() => {})
    await s.advance(3)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a commit with thousands of files and a long message is recorded', async () => {
    const s = await connectedScenario(service)
    const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`prompts/many/${i}.md`, `${i}\n`]))
    s.git.commit(`Many\n\n${'long '.repeat(5_000)}`, files)
    await s.push()
    assert.equal((await s.paths()).length, 1_502)
    assert.equal((await s.summary('prompts/many/1499.md')).length, 1)
  })
})
