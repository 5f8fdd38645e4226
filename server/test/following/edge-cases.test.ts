import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { bob, web } from '../../../testing/git-repository.ts'
import { connected, type Scenario, short } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { readLog } from '../../src/git/log.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const r = 'prompts/r.md'

/** A branch of Bob's from the default one, pushed as the head of a pull request. */
function branchOf(s: Scenario, number: number, ...commits: Record<string, string | null>[]): string {
  s.git.switchTo(`pull-${number}`, 'main')
  for (const [i, files] of commits.entries()) s.git.commit(`Change ${number}.${i}`, files, { author: bob })
  s.git.push(`HEAD:refs/${s.forgeName === 'gitlab' ? 'merge-requests' : 'pull'}/${number}/head`)
  const head = s.git.head()
  s.git.switchTo('main')
  return head
}

/** Forgets on the server what no branch leads to. */
function forget(s: Scenario): void {
  s.git.inRemote('reflog', 'expire', '--expire=now', '--all')
  s.git.inRemote('gc', '--quiet', '--prune=now')
}

onEachEngine('Odd turns: history', (engine) => {
  const service = useService(engine)

  test('keeps what it said of a closed pull request when its commit is pushed by hand', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '7\n' })
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'closed', number: 7, head, at: '2026-03-03T00:00:00Z' }),
    )
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    await s.push()
    assert.deepEqual((await s.story()).sort(), [
      ...(await s.story()).filter((entry) => entry.startsWith('deployed')).sort(),
      `pr_closed ${short(head)} #7`,
      `pr_opened ${short(head)} #7`,
    ])
    assert.equal((await s.story()).length, 4)
  })

  test('keeps prompts that had moved when the commit it stopped at is nowhere to be found', async () => {
    const s = await connected(service)
    const [first, second] = [await s.promptId(p), await s.promptId(q)]
    s.git.git('mv', p, r)
    s.git.commit('Move')
    s.git.commit('Lost', { [q]: 'lost\n' })
    await s.push()
    const before = (await s.history(r)).length
    s.git.git('reset', '--quiet', '--hard', 'HEAD^')
    s.git.commit('Instead', { [r]: 'instead\n' })
    s.git.push()
    forget(s)
    await rm(mirrorOf(service.follow, s.repository).path, { recursive: true })
    await s.deliver(s.forge.push({ before: null, after: s.git.head() }))
    assert.deepEqual([await s.promptId(r), await s.promptId(q)], [first, second])
    assert.equal((await s.history(r)).length, before + 1)
    assert.deepEqual((await s.paths()).sort(), [q, r])
  })

  test('keeps prompts that had moved when every commit is made anew', async () => {
    const s = await connected(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    s.git.commit('Move')
    await s.push()
    // What tools do that remove a secret from a whole history.
    s.git.git('checkout', '--quiet', '--orphan', 'anew')
    s.git.git('rm', '-r', '--quiet', '--cached', '.')
    s.git.git('clean', '--quiet', '-fdx')
    s.git.commit('Start anew', { [p]: 'Be kind.\n', [q]: 'Be brief.\n' })
    s.git.git('mv', p, r)
    const last = s.git.commit('Move anew')
    s.git.push('anew:main')
    await s.deliver(s.forge.push({ before: null, after: last }))
    assert.equal(await s.promptId(r), id)
    assert.deepEqual((await s.paths()).sort(), [q, r])
    assert.equal((await s.story(r)).at(-1), `deployed ${short(last)}`)
  })

  test('tries a pull request whose commits are not to be had a few times, says so, and takes it when they are', async () => {
    const s = await connected(service)
    s.git.switchTo('pull-7', 'main')
    const head = s.git.commit('Not pushed yet', { [p]: '7\n' })
    s.git.switchTo('main')
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    assert.deepEqual(await s.deliveryStates(), ['pending'])
    for (const seconds of [3, 11, 61, 301]) await s.after(seconds)
    const [delivery] = await service.store.deliveries.list(s.repository, 1)
    assert.equal(delivery?.state, 'failed')
    assert.match(delivery?.error ?? '', new RegExp(`commit ${head} of pull request 7 is not in git`))
    s.git.push('pull-7:refs/pull/7/head')
    await service.store.deliveries.redeliver(delivery as NonNullable<typeof delivery>, service.now)
    await s.work()
    assert.deepEqual(await s.deliveryStates(), ['done'])
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
  })

  test('is looked at every hour however much else is delivered', async () => {
    const s = await connected(service)
    const sha = s.git.commit('Lost delivery', { [p]: '1\n' })
    s.git.push()
    for (let i = 0; i < 3; i++) {
      service.now += 50 * 60_000
      await s.deliver(s.forge.push({ branch: 'feature', before: null, after: sha }))
      await s.work()
    }
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(sha)}`])
  })

  test('has live again what a forced push took away and another brought back, under the same ids', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '7\n' })
    const before = s.git.head()
    const squashed = s.git.squash('pull-7', 'Squashed', { author: bob, committer: web })
    s.git.push()
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: squashed }))
    await s.deliver(s.pushed('main', before))
    const history = await s.history()
    s.git.push(`${before}:refs/heads/main`)
    await s.deliver(s.forge.push({ before: squashed, after: before, forced: true }))
    const live = async () => ((await s.get(`/prompts/${await s.promptId(p)}/live`)).data as { content: string }).content
    assert.equal(await live(), 'Be kind.\n')
    await s.after(60)
    s.git.push('main:main')
    await s.after(3_600)
    assert.equal(await live(), '7\n')
    assert.deepEqual(await s.history(), history)
  })

  test('tells pull requests apart that were built on one another and rebased', async () => {
    for (const order of [0, 1]) {
      const s = await connected(service)
      const first = branchOf(s, 1, { [p]: '1\n' })
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
      const merges = async (path: string) => (await s.story(path)).filter((entry) => entry.startsWith('pr_merged'))
      assert.deepEqual(await merges(p), [`pr_merged ${short(landedFirst)} #1`])
      assert.deepEqual(await merges(q), [`pr_merged ${short(landedSecond)} #2`])
    }
  })

  test('waits for the default branch where a merge is told before it shows there', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '7\n' })
    await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    await s.deliver(s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: head }))
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    await s.push()
    await s.after(60)
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(head)} #7`])
  })

  test('claims all commits of a fast-forward on GitLab of which everything is told at once', async () => {
    const s = await connected(service, { forge: 'gitlab' })
    const head = branchOf(s, 7, { [p]: '1\n' }, { [q]: '2\n' })
    const before = s.git.head()
    s.git.git('merge', '--quiet', '--ff-only', 'pull-7')
    s.git.push()
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: null }),
      s.pushed('main', before),
    )
    for (const path of [p, q]) {
      assert.deepEqual((await s.story(path)).slice(1), [`pr_opened ${short(head)} #7`, `pr_merged ${short(head)} #7`])
    }
  })

  test('takes no commit of another time for a squash because of its title', async () => {
    const s = await connected(service, { forge: 'gitlab' })
    const head = branchOf(s, 7, { [p]: 'Be kind.\nBe seven.\n' })
    const direct = s.git.commit('Update prompt', { [p]: 'Be first.\nBe kind.\n' })
    const squashed = s.git.commit('By the seventh', { [p]: 'Be first.\nBe kind.\nBe seven.\n' })
    s.git.push()
    const merged = { action: 'merged', number: 7, head, mergeCommit: null, title: 'Update prompt' } as const
    await s.deliver(s.forge.pull({ ...merged, at: '2026-09-01T00:00:00Z' }))
    const landed = (await s.story()).filter((entry) => !entry.startsWith('pr_opened'))
    assert.deepEqual(landed.slice(1), [`deployed ${short(direct)}`, `deployed ${short(squashed)}`])
  })

  test('tells of a closed pull request that added a file once the file is there', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [r]: 'new\n' })
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ action: 'closed', number: 7, head, at: '2026-03-02T12:00:00Z' }),
    )
    const sha = s.git.commit('By another way', { [r]: 'another\n' })
    await s.push()
    assert.deepEqual(await s.story(r), [
      `deployed ${short(sha)}`,
      `pr_opened ${short(head)} #7`,
      `pr_closed ${short(head)} #7`,
    ])
  })

  test('takes a fork that was pulled in for what it is', async () => {
    const s = await connected(service)
    s.git.switchTo('fork', 'main')
    s.git.commit('a', { [q]: 'a\n' }, { author: bob })
    s.git.commit('b', { [q]: 'b\n' }, { author: bob })
    s.git.switchTo('main')
    const own = s.git.commit('Own', { [p]: 'own\n' })
    await s.push()
    const merge = s.git.merge('fork', "Merge branch 'main' of example.com:stranger/prompts")
    await s.push()
    await s.after(11)
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(own)}`])
    assert.deepEqual((await s.story(q)).slice(1), [`deployed ${short(merge)}`])
  })

  test('takes an amended merge for the merge', async () => {
    const s = await connected(service)
    s.git.push('HEAD:refs/pull/5/head')
    const first = s.git.commit('Change (#5)', { [p]: '5\n' })
    await s.push()
    s.git.git('reset', '--quiet', '--hard', 'HEAD^')
    const amended = s.git.commit('Change (#5)', { [p]: '55\n' })
    await s.push()
    assert.ok((await s.story()).includes(`pr_merged ${short(amended)} #5`))
    assert.notEqual(first, amended)
  })

  test('has nothing to wait for where a pull request was turned away and merged elsewhere', async () => {
    const s = await connected(service)
    const head = branchOf(s, 7, { [p]: '7\n' })
    const merged = { action: 'merged', number: 7, head, mergeCommit: 'a'.repeat(40), base: 'develop' } as const
    await s.deliver(
      s.forge.pull({ action: 'opened', number: 7, head }),
      s.forge.pull({ ...merged, at: '2026-03-03T00:00:00Z' }),
    )
    assert.deepEqual(await s.deliveryStates(), ['done', 'done'])
    assert.deepEqual(await service.store.facts.unsettledPulls(s.repository), [])
  })

  test('goes on though somebody opens a pull request that is larger than a repository may be', async () => {
    const s = await connected(service)
    const { sizeLimit } = service.follow
    service.follow.sizeLimit = 3_000_000
    try {
      s.git.switchTo('pull-7', 'main')
      const head = s.git.commit('Large', { 'large.bin': randomBytes(6_000_000), [p]: '7\n' })
      s.git.push('HEAD:refs/pull/7/head')
      s.git.switchTo('main')
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head })).catch(() => {})
      const sha = s.git.commit('Small', { [p]: 'small\n' })
      await s.push().catch(() => {})
      await s.after(3_600)
      assert.ok((await s.story()).includes(`deployed ${short(sha)}`))
    } finally {
      service.follow.sizeLimit = sizeLimit
    }
  })

  test('goes on though git was killed and left its locks behind', async () => {
    const s = await connected(service)
    const mirror = mirrorOf(service.follow, s.repository).path
    const long = new Date(Date.now() - 60_000)
    for (const name of ['packed-refs.lock', 'refs/heads/main.lock', 'HEAD.lock']) {
      await writeFile(join(mirror, name), '')
      await utimes(join(mirror, name), long, long)
    }
    const sha = s.git.commit('One', { [p]: '1\n' })
    await s.push().catch(() => {})
    await s.after(3)
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(sha)}`])
  })

  test('holds a commit of thousands of files with a long message', async () => {
    const s = await connected(service)
    const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`prompts/many/${i}.md`, `${i}\n`]))
    s.git.commit(`Many\n\n${'long '.repeat(5_000)}`, files)
    await s.push()
    assert.equal((await s.paths()).length, 1_502)
    assert.equal((await s.story('prompts/many/1499.md')).length, 1)
  })
})

test('Whoever stops reading a log ends git with it', async () => {
  const { GitRepository } = await import('../../../testing/git-repository.ts')
  const git = new GitRepository()
  for (let i = 0; i < 50; i++) git.commit(`Commit ${i}\n\n${'x'.repeat(5_000)}`, { [p]: `${i}\n` })
  for await (const _ of readLog(join(git.checkout, '.git'), ['HEAD'], { pattern: '**', similarity: 100 })) break
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.ok(!process.getActiveResourcesInfo().includes('ProcessWrap'))
  git.remove()
})
