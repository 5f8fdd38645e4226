import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { bob, GitRepository, web } from '../../../testing/git-repository.ts'
import { postVotes } from '../../../testing/judged-votes.ts'
import { Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { createReportOnPull } from '../../src/alerts/pull-comment.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { day, minute } from '../../src/domain/time.ts'
import { createBriefings } from '../../src/service/briefings.ts'

// A name that a stranger chose, with everything that a comment could be made to say.
const hostile = 'prompts/<img src=x> @ada #1 `|` [x](http://evil).md'

onOneEngine('Briefing the reviewers of a pull request', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
    Object.assign(service.syncContext, { allowHttp: true })
  })
  const log = pino({ level: 'silent' })
  const clock = () => service.now

  async function brief(): Promise<void> {
    const { store, repositories } = service
    const { vault } = service.syncContext
    const addresses = { allowPrivateAddresses: false, allowHttp: false }
    const reportOnPull = createReportOnPull({
      ...{ store, vault, clock, log, ...addresses },
      publicUrl: () => 'https://ledger.example',
    })
    const briefings = createBriefings({ store, clock, log, repositories, reportOnPull })
    await briefings.start()
    await briefings.idle()
  }

  /** A prompt that pull request 7 made worse before it was reverted, and pull request 9 of a stranger. */
  async function stage() {
    const forge = await new ForgeApiServer('github').start()
    const git = new GitRepository()
    const at = (daysAgo: number) => new Date(service.now - daysAgo * day).toISOString()
    const good = 'You answer customers.\nBe kind.\nBe brief.\n'
    const bad = 'You answer customers.\nBe kind.\nBe brief.\nNever apologise for anything.\n'
    git.commit('Start', { 'prompts/p.md': good, [hostile]: 'Say hello.\n' }, { at: at(30) })
    git.switchTo('bad', 'main')
    git.commit('Do not apologise', { 'prompts/p.md': bad }, { author: bob, at: at(18) })
    git.switchTo('main')
    git.merge('bad', 'Merge pull request #7 from bob/bad', { committer: web, at: at(18) })
    git.commit('Apologise again', { 'prompts/p.md': good }, { at: at(8) })
    git.push('main', 'bad:refs/pull/7/head')
    forge.folder = git.remote
    forge.pulls.add(9)
    const tenant = await service.tenant('free', 'admin')
    const { repository, secret } = await service.repositories.connect(
      {
        ...{ organisationId: tenant.organisation.id, forge: 'github', url: forge.cloneUrl, path: 'prompts/**' },
        ...{ similarity: 50, token: forge.token, secret: null },
      },
      operator,
      {},
    )
    const scenario = new Scenario(service, tenant, git, 'github', repository, secret)
    const prompt = await scenario.promptId('prompts/p.md')
    const vote = (from: number, until: number, count: number, rate: number) =>
      postVotes(tenant, {
        ...{ from: service.now - from * day + 1, until: service.now - until * day, count, rate, prompt },
      })
    await vote(30, 18, 3_000, 0.85)
    await vote(18, 8, 1_000, 0.6)
    await vote(8, 0, 800, 0.85)
    return { forge, git, scenario }
  }

  let seconds = 0
  /** Pushes to pull request 9, and delivers that. */
  async function push({ git, scenario }: Awaited<ReturnType<typeof stage>>, files: Record<string, string>) {
    const isFirst = git.git('branch', '--list', 'theirs') === ''
    git.switchTo('theirs', ...(isFirst ? ['main'] : []))
    git.commit('Change', files, { author: bob })
    const head = git.head()
    git.push('theirs:refs/pull/9/head')
    git.switchTo('main')
    const facts = { number: 9, head, fork: { owner: 'eve' }, openedAt: '2026-11-02T10:00:00Z' }
    const at = new Date(Date.parse('2026-11-02T10:00:00Z') + 1_000 * seconds++).toISOString()
    await scenario.deliver(scenario.forge.pull({ action: isFirst ? 'opened' : 'updated', ...facts, at }))
    return head
  }

  test('one comment tells the rate, the fate of the lines, what comes back, hidden characters and the wait, and follows pushes', async () => {
    const staged = await stage()
    const { forge, scenario } = staged
    await push(staged, { 'prompts/p.md': 'Other.\n' })
    await brief()
    assert.equal(forge.requests.length, 0, 'reviewers are briefed although the repository does not ask for it')
    await service.repositories.update(scenario.repository, { briefsPulls: true }, operator)
    await scenario.sync()
    const head = await push(staged, {
      'prompts/p.md': 'You answer customers.\nBe k\u200bind.\nBe brief.\n  Never apologise for anything.\n',
      [hostile]: 'Say goodbye.\n',
      'prompts/new.md': 'New.\u202e\n',
    })
    await brief()
    const [comment] = forge.comments
    assert.equal(comment?.pull, 9)
    const text = comment?.text ?? ''
    const has = (pattern: RegExp) => assert.match(text, pattern)
    has(/^\*\*Promptledger: before you merge\*\*/)
    has(
      /\| \[`prompts\/p\.md`\]\(https:\/\/ledger\.example\/prompts\/pmt_\w+\) \| 80% of 4,\d{3} \| \d+ \| about \d+ for 10 points, about \d+ for 20 points \|/,
    )
    has(
      /`prompts\/p\.md` \*\*brings back 1 line\*\* of \[pull request 7\]\(\S+\) \(\*\*worse\*\*, −\d+ to −\d+ points\), which \[commit \w{7}\]\(\S+\) took back\./,
    )
    has(/`prompts\/p\.md` changes lines of \[commit \w{7}\]\(\S+\) \(nothing to compare it with\)\./)
    has(/`prompts\/p\.md` \*\*gets hidden characters\*\*: 1 zero-width character, first in line 2\./)
    has(/`prompts\/new\.md` \*\*gets hidden characters\*\*: 1 bidirectional control, first in line 1\./)
    has(new RegExp(`About \`${head.slice(0, 7)}\``))
    // Inert: nothing of the name is outside of code spans, whose quotes and bars are replaced. Random IDs can contain any letters.
    const rest = text.replaceAll(/`[^`\n]*`|pmt_\w+|\[commit \w+\]|\(promptledger \w+\)/g, '')
    assert.doesNotMatch(rest, /img|ada|evil|#1/)
    assert.doesNotMatch(text, /@ada/)
    assert.equal(forge.statuses.length, 0)
    assert.equal(forge.requests.filter((request) => request.startsWith('POST')).length, 1)

    // A stranger who pushes again and again causes no more work within ten minutes.
    const asked = forge.requests.length
    await push(staged, { 'prompts/p.md': 'Once.\n' })
    await push(staged, { 'prompts/p.md': 'Twice.\n' })
    await brief()
    assert.equal(forge.requests.length, asked)
    service.now += 10 * minute
    await brief()
    assert.equal(forge.comments.length, 1)
    assert.doesNotMatch(forge.comments[0]?.text ?? '', /brings back/)
    await brief()

    const edited = forge.requests.length
    await push(staged, { 'prompts/p.md': 'Thrice.\n' })
    const closed = { number: 9, head, fork: { owner: 'eve' }, openedAt: '2026-11-02T10:00:00Z' }
    await scenario.deliver(scenario.forge.pull({ action: 'closed', ...closed, at: '2026-11-02T11:00:00Z' }))
    service.now += 10 * minute
    await brief()
    assert.equal(forge.requests.length, edited, 'a closed pull request is briefed')
  })
})
