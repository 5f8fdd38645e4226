import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { bob } from '../../../testing/git-repository.ts'
import { type Gitea, owner, startGitea } from '../../../testing/gitea.ts'
import { postVotes } from '../../../testing/judged-votes.ts'
import { seededRandom, shuffled } from '../../../testing/random.ts'
import { type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { createReportIssue } from '../../src/alerts/issue.ts'
import { createReportOnPull } from '../../src/alerts/pull-comment.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import { day, minute } from '../../src/domain/time.ts'
import { sendRequest } from '../../src/net/request.ts'
import { createBriefings } from '../../src/service/briefings.ts'
import { withIssues } from '../../src/service/issues.ts'
import { createNotifier } from '../../src/service/notifier.ts'
import { createSender } from '../../src/service/sender.ts'
import { entriesOf, GiteaStory, landingsOf, type MergeStyle } from './gitea-story.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

onOneEngine('A real Gitea', (engine) => {
  const service = useService(engine)
  let gitea: Gitea
  let repositories = 0
  before(async () => {
    service.planLimits.free = null
    Object.assign(service.syncContext, { allowHttp: true })
    gitea = await startGitea()
  })

  async function newStory(): Promise<GiteaStory> {
    service.now = Date.now()
    return new GiteaStory(gitea, service, `prompts-${++repositories}`).start()
  }

  /** Processes what has arrived, and waits for what the service holds back. */
  async function follow(story: GiteaStory, live: Scenario): Promise<void> {
    await live.deliver(...story.takeDeliveries())
    await live.advance(60)
    assert.deepEqual(await live.unfinishedDeliveries(), [])
  }

  /** What a repository connected now has must be what the other one has followed. */
  async function assertLikeBackfill(story: GiteaStory, live: Scenario): Promise<void> {
    const fresh = await story.connect()
    assert.deepEqual(await landingsOf(live), await landingsOf(fresh))
  }

  test('a push is a deployed entry with the user who pushed it', async () => {
    const story = await newStory()
    const live = await story.connect()
    story.git.commit('Direct', { [p]: 'Be kinder.\n' })
    const sha = await story.push()
    await follow(story, live)
    assert.deepEqual((await live.summary()).slice(1), [`deployed ${shortSha(sha)}`])
    const id = (await live.history()).at(-1)?.id
    const { data } = await live.get(`/prompts/${await live.promptId(p)}/history/${id}`)
    assert.equal((data as { actor: string }).actor, owner)
    await assertLikeBackfill(story, live)
  })

  for (const style of ['merge', 'squash', 'rebase', 'rebase-merge'] as MergeStyle[]) {
    test(`a pull request that is merged with "${style}" has one entry per prompt, live and in a backfill`, async () => {
      const story = await newStory()
      const live = await story.connect()
      const number = await story.open('kinder', 'main', { [p]: 'A\n' }, { [p]: 'B\n', [q]: 'C\n' })
      await follow(story, live)
      const head = story.git.head()
      // Something lands in between, so that nothing can be merged by fast-forward.
      story.git.switchTo('main')
      story.git.commit('Other', { 'README.md': 'x\n' })
      await story.push()
      const landed = await story.merge(number, style)
      await follow(story, live)
      const expected = [`pr_opened ${shortSha(head)} #${number}`, `pr_merged ${shortSha(landed)} #${number}`]
      assert.deepEqual([(await live.summary(p)).slice(1), (await live.summary(q)).slice(1)], [expected, expected])
      // Gitea makes the user who opened the pull request the author of a squash.
      assert.equal((await live.history(q)).at(-1)?.user.name, style === 'squash' ? owner : bob.name)
      await assertLikeBackfill(story, live)
    })
  }

  test('a pull request whose commits are pushed to the default branch is merged', async () => {
    const story = await newStory()
    const live = await story.connect()
    const number = await story.open('kinder', 'main', { [p]: 'A\n' }, { [q]: 'B\n' })
    story.git.switchTo('main')
    story.git.git('merge', '--quiet', '--ff-only', 'kinder')
    const head = await story.push('main')
    await story.isMerged(number)
    await follow(story, live)
    const expected = [`pr_opened ${shortSha(head)} #${number}`, `pr_merged ${shortSha(head)} #${number}`]
    assert.deepEqual([(await live.summary(p)).slice(1), (await live.summary(q)).slice(1)], [expected, expected])
    // In git, a fast-forward is no different from pushed commits.
    const fresh = await story.connect()
    const pushed = [await fresh.summary(p), await fresh.summary(q)].map((entries) => entries.slice(1))
    assert.deepEqual(pushed, [[`deployed ${shortSha(story.git.head('main~1'))}`], [`deployed ${shortSha(head)}`]])
  })

  test('a pull request whose branch is rewritten before it is squashed has the prompts of its last version', async () => {
    const story = await newStory()
    const live = await story.connect()
    const number = await story.open('kinder', 'main', { [p]: 'A\n' })
    await follow(story, live)
    story.git.switchTo('kinder', 'main')
    story.git.commit('Again', { [q]: 'B\n' }, { author: bob })
    await story.update(number, 'kinder')
    const landed = await story.merge(number, 'squash')
    await follow(story, live)
    assert.deepEqual((await live.summary(q)).at(-1), `pr_merged ${shortSha(landed)} #${number}`)
    assert.ok(!(await live.summary(p)).some((entry) => entry.startsWith('pr_merged')))
    await assertLikeBackfill(story, live)
  })

  test('a pull request from a fork, closed and opened again, is followed to its merge', async () => {
    const story = await newStory()
    const live = await story.connect()
    const token = await gitea.createUser('eve')
    await gitea.api('PUT', `/repos/${story.path}/collaborators/eve`, { permission: 'read' })
    await gitea.api('POST', `/repos/${story.path}/forks`, {}, token)
    story.git.switchTo('kinder', 'main')
    const head = story.git.commit('Be kinder', { [p]: 'A\n' }, { author: bob })
    story.git.git('push', '--quiet', gitea.pushUrl(story.path.replace(owner, 'eve'), token), 'kinder')
    const number = await story.openFrom('eve:kinder', 'main', token)
    await follow(story, live)
    await story.setState(number, 'closed')
    await follow(story, live)
    await story.setState(number, 'open')
    await follow(story, live)
    const landed = await story.merge(number, 'merge')
    await follow(story, live)
    assert.deepEqual((await live.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #${number}`,
      `pr_closed ${shortSha(head)} #${number}`,
      `pr_merged ${shortSha(landed)} #${number}`,
    ])
    assert.equal((await live.history()).at(-2)?.branch_name, 'eve:kinder')
    await assertLikeBackfill(story, live)
  })

  test('after the default branch is rewritten, the new commits are live and the lost ones stay in the history', async () => {
    const story = await newStory()
    const live = await story.connect()
    story.git.commit('Mistake', { [p]: 'Be rude.\n' })
    const lost = await story.push()
    await follow(story, live)
    story.git.git('reset', '--quiet', '--hard', 'HEAD~1')
    story.git.commit('Better', { [p]: 'Be kinder.\n' })
    const kept = await story.push()
    await follow(story, live)
    const short = [lost, kept].map((sha) => `deployed ${shortSha(sha)}`)
    assert.deepEqual((await live.summary()).slice(1).sort(), short.sort())
    const fresh = await story.connect()
    assert.deepEqual((await fresh.summary()).slice(1), [`deployed ${shortSha(kept)}`])
    const { data } = await live.get(`/prompts/${await live.promptId(p)}/live`)
    assert.equal((data as { entry: { commit_sha: string } }).entry.commit_sha, kept)
  })

  test('a renamed default branch is followed under its new name', async () => {
    const story = await newStory()
    const live = await story.connect()
    story.git.commit('Before', { [p]: 'Before.\n' })
    await story.push()
    await follow(story, live)
    story.git.switchTo('trunk', 'main')
    await story.push('trunk')
    await gitea.api('PATCH', `/repos/${story.path}`, { default_branch: 'trunk' })
    await gitea.api('DELETE', `/repos/${story.path}/branches/main`)
    story.git.commit('After', { [p]: 'After.\n' })
    await story.push('trunk')
    await follow(story, live)
    const number = await story.open('kinder', 'trunk', { [q]: 'A\n' })
    await story.merge(number, 'squash', 'trunk')
    await follow(story, live)
    assert.equal((await live.history(q)).at(-1)?.branch_name, 'trunk')
    // What landed before keeps the name that the branch had then. A backfill knows only the new one.
    const fresh = await story.connect()
    const renamed = JSON.stringify(await landingsOf(live)).replaceAll('"main"', '"trunk"')
    assert.deepEqual(JSON.parse(renamed), await landingsOf(fresh))
  })

  test('deliveries in any order, some of them twice, lead to the same entries as in order, and to those of a backfill', async () => {
    const story = await newStory()
    const inOrder = await story.connect()
    const seeds = [1, 2, 3]
    const others = await Promise.all(seeds.map(() => story.connect()))
    const styles: MergeStyle[] = ['merge', 'squash', 'rebase', 'rebase-merge']
    for (const [i, style] of styles.entries()) {
      const number = await story.open(style, 'main', { [p]: `${i}, first\n` }, { [q]: `${i}, second\n` })
      story.git.commit('More', { [p]: `${i}, third\n` }, { author: bob })
      await story.update(number, style)
      story.git.switchTo('main')
      story.git.commit('Direct', { 'prompts/r.md': `${i}\n` })
      await story.push()
      await story.merge(number, style)
      await follow(story, inOrder)
    }
    const closed = await story.open('closed', 'main', { [q]: 'never\n' })
    await story.setState(closed, 'closed')
    await follow(story, inOrder)
    const expected = await entriesOf(inOrder)
    for (const [i, seed] of seeds.entries()) {
      const random = seededRandom(seed)
      const other = others[i] as Scenario
      const twice = story.deliveries.filter(() => random() < 0.3)
      for (const delivery of shuffled(random, [...story.deliveries, ...twice])) {
        assert.equal(await other.send(delivery), 202)
        if (random() < 0.3) await other.sync()
      }
      for (let minutes = 0; minutes < 10; minutes++) await other.advance(60)
      assert.deepEqual(await other.unfinishedDeliveries(), [])
      assert.deepEqual(await entriesOf(other), expected, `seed ${seed}`)
    }
    await assertLikeBackfill(story, inOrder)
  })

  test('a regression is told in a comment on the pull request, as the status of its commit, and in one issue until it is over', async () => {
    const story = await newStory()
    const number = await story.open('worse', 'main', { [p]: 'Be rude.\n' })
    const landed = await story.merge(number, 'squash')
    const mergedAt = Date.parse(story.git.dateOf(landed))
    // Votes need time before and after the merge.
    service.now = mergedAt + 8 * day
    const live = await story.connect({ reportsOnPulls: true, opensIssues: true })
    const prompt = await live.promptId(p)
    const from = Date.parse(story.git.dateOf(`${landed}~1`)) + 1
    await postVotes(live.tenant, {
      from: Math.max(from, mergedAt - 20 * day),
      until: mergedAt,
      count: 4_000,
      rate: 0.85,
      prompt,
    })
    await postVotes(live.tenant, { from: mergedAt + 1, until: service.now, count: 1_200, rate: 0.6, prompt })
    await service.judge.round()
    const { store, planLimits } = service
    const { vault } = service.syncContext
    const [clock, log] = [() => service.now, pino({ level: 'silent' })]
    const publicUrl = () => 'https://ledger.example'
    // As if the process were killed after Gitea has stored it.
    const lost: string[] = []
    const send: typeof sendRequest = async (network, url, options) => {
      const response = await sendRequest(network, url, options)
      const place = `${options.method} ${url.replace(/^.*\/issues/, '')}`
      if (options.method === 'GET' || lost.includes(place)) return response
      lost.push(place)
      return { kind: 'failure', status: null, reason: 'It was lost.' }
    }
    const reporting = { store, vault, clock, publicUrl, log, allowPrivateAddresses: false, allowHttp: false }
    const reportIssue = createReportIssue({ ...reporting, send })
    const reportOnPull = withIssues(createReportOnPull(reporting), { store, reportIssue })
    const context = { store, vault, send: () => assert.fail('there is no alert'), reportOnPull, planLimits, clock, log }
    const [notifier, sender] = [createNotifier(context), createSender(context)]
    const tell = async () => {
      await notifier.round()
      await sender.round()
      await sender.idle()
    }
    await tell()
    service.now += 15 * minute
    await tell()
    await tell()
    const comments = await gitea.api<{ body: string }[]>('GET', `/repos/${story.path}/issues/${number}/comments`)
    assert.equal(comments.length, 1)
    assert.match(comments[0]?.body ?? '', /worse since this change/)
    const statuses = await gitea.api<{ status: string }[]>('GET', `/repos/${story.path}/statuses/${landed}`)
    assert.deepEqual(
      statuses.map(({ status }) => status),
      ['failure'],
    )
    // Each lost response costs an attempt.
    const retryAll = async () => {
      for (let attempt = 0; attempt < 4; attempt++) {
        service.now += 2 * minute
        await tell()
      }
    }
    const issues = () =>
      gitea.api<{ number: number; title: string; body: string; state: string }[]>(
        'GET',
        `/repos/${story.path}/issues?state=all&type=issues`,
      )
    await retryAll()
    const [opened] = await issues()
    assert.equal((await issues()).length, 1)
    assert.equal(opened?.state, 'open')
    assert.match(opened?.title ?? '', /prompts\/p\.md got worse with pull request/)
    const [found] = (await service.store.facts.prompts(live.repository)).filter(({ path }) => path === p)
    const [regression] = await store.regressions.ofPrompt(found as Prompt)
    const [key] = await store.keys.list(live.tenant.organisation.id)
    const by = { keyId: key?.id as number }
    await store.regressions.dismiss(found as Prompt, regression?.id as number, 'On purpose.', service.now, by)
    await retryAll()
    const closed = await issues()
    assert.deepEqual(
      closed.map(({ state }) => state),
      ['closed'],
    )
    const said = await gitea.api<{ body: string }[]>('GET', `/repos/${story.path}/issues/${opened?.number}/comments`)
    assert.deepEqual(
      said.map(({ body }) => /dismissed, 1 prompt got worse.*On purpose/s.test(body)),
      [true],
    )
    assert.deepEqual(lost, ['POST ', `PATCH /${opened?.number}`, `POST /${opened?.number}/comments`])
  })

  test('reviewers of a pull request from a fork are briefed by one comment, which follows a push', async () => {
    const story = await newStory()
    const live = await story.connect()
    await service.repositories.update(live.repository, { briefsPulls: true }, operator)
    await live.sync()
    const token = await gitea.createUser('mallory')
    await gitea.api('PUT', `/repos/${story.path}/collaborators/mallory`, { permission: 'read' })
    await gitea.api('POST', `/repos/${story.path}/forks`, {}, token)
    const fork = gitea.pushUrl(story.path.replace(owner, 'mallory'), token)
    story.git.switchTo('hidden', 'main')
    story.git.commit('Be kinder', { [p]: 'Be k\u200bind, @ada.\n' }, { author: bob })
    story.git.git('push', '--quiet', fork, 'hidden')
    const number = await story.openFrom('mallory:hidden', 'main', token)
    await follow(story, live)
    const { store, repositories: git } = service
    const [clock, log, publicUrl] = [() => service.now, pino({ level: 'silent' }), () => 'https://ledger.example']
    const addresses = { allowPrivateAddresses: false, allowHttp: false }
    const reportOnPull = createReportOnPull({
      store,
      vault: service.syncContext.vault,
      clock,
      publicUrl,
      log,
      ...addresses,
    })
    const briefings = createBriefings({ store, clock, log, repositories: git, reportOnPull })
    const brief = async () => {
      await briefings.start()
      await briefings.idle()
      return gitea.api<{ body: string }[]>('GET', `/repos/${story.path}/issues/${number}/comments`)
    }
    const [comment, ...others] = await brief()
    assert.match(
      comment?.body ?? '',
      /`prompts\/p\.md` \*\*gets hidden characters\*\*: 1 zero-width character, first in line 1\./,
    )
    assert.deepEqual(others, [])
    story.git.commit('Without', { [p]: 'Be kinder.\n' }, { author: bob })
    story.git.git('push', '--quiet', fork, 'hidden')
    await eventually(async () => {
      await follow(story, live)
      const [pull] = await store.facts.pulls(live.repository, [number])
      assert.equal(pull?.events.at(-1)?.head, story.git.head('hidden'))
    })
    service.now += 10 * minute
    const after = await brief()
    assert.equal(after.length, 1)
    assert.doesNotMatch(after[0]?.body ?? '', /hidden characters/)
  })
})
