import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import type { RegressionDetailsBody } from '../../../contract/regressions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Gitea, owner, startGitea } from '../../../testing/gitea.ts'
import { figures } from '../../../testing/regressions.ts'
import type { Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import type { ProposalError, ProposalRequest, Propose } from '../../src/domain/proposals/proposal.ts'
import { minute } from '../../src/domain/time.ts'
import { sendRequest } from '../../src/net/request.ts'
import { createPropose, type ProposalContext } from '../../src/proposals/propose.ts'
import { GiteaStory, type MergeStyle } from './gitea-story.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const start = 'One.\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\n'
const onlyPrompt: ProposalRequest = { mode: 'revert', files: 'prompt' }

interface Pull {
  number: number
  title: string
  body: string
  state: string
  head: { ref: string; sha: string }
}

interface Review {
  state: string
  user: { login: string }
}

interface Stage {
  story: GiteaStory
  live: Scenario
  prompt: Prompt
  regressionId: number
}

onOneEngine('Proposals on a real Gitea', (engine) => {
  const service = useService(engine)
  let gitea: Gitea
  let reviewer: string
  let repositories = 0
  before(async () => {
    service.planLimits.free = null
    Object.assign(service.syncContext, { allowHttp: true, allowPrivateAddresses: true })
    gitea = await startGitea()
    reviewer = await gitea.createUser('grace')
  })

  function proposeWith(changed: Partial<ProposalContext> = {}): Propose {
    return createPropose({
      store: service.store,
      vault: service.syncContext.vault,
      repositories: service.repositories,
      publicUrl: () => service.publicUrl,
      clock: () => service.now,
      log: pino({ level: 'silent' }),
      allowPrivateAddresses: true,
      allowHttp: true,
      ...changed,
    })
  }

  /** A pull request of three files that landed, and a regression of the prompt p with it. */
  async function stage(style: MergeStyle, files: Record<string, string>[] = changes): Promise<Stage> {
    service.now = Date.now()
    const story = await new GiteaStory(gitea, service, `proposed-${++repositories}`).start()
    await gitea.api('PUT', `/repos/${story.path}/collaborators/grace`, { permission: 'write' })
    story.git.commit('Prepare', { [p]: start, 'README.md': 'Hello.\n' })
    await story.push()
    const number = await story.open('worse', 'main', ...files)
    await gitea.api('POST', `/repos/${story.path}/pulls/${number}/reviews`, { event: 'APPROVED', body: 'ok' }, reviewer)
    story.git.switchTo('main')
    story.git.commit('Other', { 'OTHER.md': 'x\n' })
    await story.push()
    await story.merge(number, style)
    const live = await story.connect()
    await live.deliver(...story.takeDeliveries())
    await live.advance(60)
    const prompts = await service.store.facts.prompts(live.repository)
    const prompt = prompts.find(({ path }) => path === p) as Prompt
    const change = (await live.history(p)).at(-1)
    assert.equal(change?.action, 'pr_merged')
    const landed = { id: change.id, commitSha: change.commit_sha }
    await service.store.regressions.open(
      prompt,
      landed,
      { ...figures, liveFrom: Date.parse(change.created_at) },
      service.now,
    )
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    return { story, live, prompt, regressionId: regression?.id as number }
  }

  const changes = [
    { [p]: start.replace('Two', 'Zwei'), [q]: 'Say nothing.\n' },
    { [p]: start.replace('Two', 'Zwo').replace('Three', 'Drei'), 'README.md': 'Go away.\n' },
  ]

  const post = async ({ live, prompt, regressionId }: Stage, body: object = {}) => {
    const url = `/api/v1/prompts/${prompt.publicId}/regressions/${regressionId}/proposals`
    return service.app.inject({ method: 'POST', url, headers: live.tenant.headers, payload: body })
  }
  const openPulls = ({ story }: Stage) => gitea.api<Pull[]>('GET', `/repos/${story.path}/pulls?state=open`)
  const pullOf = ({ story }: Stage, number: number) => gitea.api<Pull>('GET', `/repos/${story.path}/pulls/${number}`)

  /** What the pull request changes. */
  function diffOf({ story }: Stage, pull: Pull): Record<string, string | null> {
    story.git.git('fetch', '--quiet', 'origin', 'main', pull.head.ref)
    const changed = story.git.git('diff', '--name-only', `origin/main...${pull.head.sha}`).split('\n').filter(Boolean)
    return Object.fromEntries(changed.map((path) => [path, `${story.git.git('show', `${pull.head.sha}:${path}`)}\n`]))
  }

  for (const style of ['merge', 'squash', 'rebase', 'rebase-merge'] as MergeStyle[]) {
    test(`a change that landed by "${style}" is taken back as a whole, and its merge repairs the regression`, async () => {
      const about = await stage(style)
      const { story, live } = about
      const response = await post(about)
      assert.equal(response.statusCode, 200, response.body)
      const { pr_number: number, branch, state } = response.json().data
      assert.equal(state, 'open')
      const pull = await pullOf(about, number)
      assert.deepEqual(diffOf(about, pull), { [p]: start })
      assert.equal(pull.head.ref, branch)
      assert.match(pull.title, /^Revert pull request 1: prompts\/p\.md got worse \(85% → 70% positive\)$/)
      assert.match(pull.body, /\| Difference \| −20 to −10 points \| 95% confidence range \|/)
      const reviews = await gitea.api<Review[]>('GET', `/repos/${story.path}/pulls/${number}/reviews`)
      assert.deepEqual(
        reviews.map(({ state, user }) => `${state} ${user.login}`),
        ['REQUEST_REVIEW grace'],
      )

      const again = await post(about, { mode: 'restore' })
      assert.equal(again.statusCode, 200, again.body)
      assert.equal(again.json().data.pr_number, number)
      assert.equal((await openPulls(about)).length, 1)

      const landed = await story.merge(number, style)
      await live.deliver(...story.takeDeliveries())
      await live.advance(60)
      service.now += 10 * minute
      await service.judge.round()
      const url = `/prompts/${about.prompt.publicId}/regressions/${about.regressionId}`
      const regression = (await live.get(url)).data as RegressionDetailsBody
      assert.equal(regression.state, 'repaired')
      assert.equal(regression.repaired_by, 'revert')
      const { repaired_entry: fix, proposal } = regression
      assert.deepEqual([fix?.pr_number, fix?.commit_sha], [number, landed])
      assert.equal(proposal?.state, 'merged')
      assert.match((await post(about)).json().error.message, /already repaired/)
    })

    test(`all files of a change that landed by "${style}" are taken back if asked for`, async () => {
      const about = await stage(style)
      const response = await post(about, { files: 'change' })
      assert.equal(response.statusCode, 200, response.body)
      const pull = await pullOf(about, response.json().data.pr_number)
      assert.deepEqual(diffOf(about, pull), { 'README.md': 'Hello.\n', [p]: start, [q]: 'Be brief.\n' })
    })
  }

  test('later changes of other lines stay, and those of the same lines lead to the text of the last good version', async () => {
    const about = await stage('squash')
    const { story, live } = about
    story.git.commit('Later', { [p]: start.replace('Two', 'Zwo').replace('Three', 'Drei').replace('Seven', 'Sieben') })
    await story.push()
    const reverted = await post(about)
    assert.equal(reverted.statusCode, 200, reverted.body)
    const first = await pullOf(about, reverted.json().data.pr_number)
    assert.deepEqual(diffOf(about, first), { [p]: start.replace('Seven', 'Sieben') })
    // A proposal that people decline does not prevent the next.
    await story.setState(first.number, 'closed')

    story.git.commit('Same line', { [p]: start.replace('Two', 'Deux').replace('Three', 'Drei') })
    await story.push()
    await live.deliver(...story.takeDeliveries())
    const overlapping = await post(about)
    assert.equal(overlapping.statusCode, 409)
    assert.equal(overlapping.json().error.problem, 'overlap')
    assert.match(overlapping.json().error.message, /touch the same lines of prompts\/p\.md.*mode restore/)
    const restored = await post(about, { mode: 'restore' })
    assert.equal(restored.statusCode, 200, restored.body)
    const second = await pullOf(about, restored.json().data.pr_number)
    assert.deepEqual(diffOf(about, second), { [p]: start })
    assert.notEqual(second.head.ref, first.head.ref)
    assert.match(second.body, /Later changes of the same files are lost/)
  })

  test('with a protected default branch, the proposal is a branch beside it', async () => {
    const about = await stage('squash')
    const rule = { branch_name: 'main', enable_push: false, required_approvals: 1 }
    await gitea.api('POST', `/repos/${about.story.path}/branch_protections`, rule)
    const response = await post(about)
    assert.equal(response.statusCode, 200, response.body)
    assert.deepEqual(diffOf(about, await pullOf(about, response.json().data.pr_number)), { [p]: start })
  })

  test('a token without rights is told which it lacks, with the commands to do it by hand, and leaves nothing behind', async () => {
    const about = await stage('rebase')
    const { live, story } = about
    const reader = await gitea.createUser('heidi')
    await gitea.api('PUT', `/repos/${story.path}/collaborators/heidi`, { permission: 'read' })
    await service.repositories.update(live.repository, { token: reader }, null)
    const denied = await post(about)
    assert.equal(denied.statusCode, 409, denied.body)
    const { problem, message, commands } = denied.json().error
    assert.equal(problem, 'denied')
    assert.match(message, /The token needs the scope write:repository/)
    assert.deepEqual(await openPulls(about), [])
    assert.equal(story.git.git('ls-remote', 'origin', 'refs/heads/promptledger/*'), '')
    // What a person does instead.
    for (const command of commands as string[]) story.git.shell(command)
    const [branch = ''] = /promptledger\/\S+/.exec(commands.at(-1)) ?? []
    assert.equal(story.git.git('diff', '--name-only', `origin/main...origin/${branch}`), p)
    assert.equal(`${story.git.git('show', `origin/${branch}:${p}`)}\n`, start)
    story.git.git('push', '--quiet', 'origin', '--delete', branch)

    const repository = await service.store.repositories.find(live.repository.id)
    await service.repositories.update(repository as typeof live.repository, { token: gitea.token }, null)
    assert.equal((await post(about)).statusCode, 200)
  })

  test('a process that is killed at any step leaves what the next attempt completes: one branch, one pull request', async () => {
    const never = () => new Promise<never>(() => {})
    const isOpening = (method: string | undefined, url: string) => method === 'POST' && url.endsWith('/pulls')
    type Send = typeof sendRequest
    const before: Send = (network, url, options) =>
      isOpening(options.method, url) ? never() : sendRequest(network, url, options)
    const after: Send = async (network, url, options) => {
      const sent = await sendRequest(network, url, options)
      return isOpening(options.method, url) ? never() : sent
    }
    const { repositories: git } = service
    const kills: [string, Partial<ProposalContext>][] = [
      ['before the push', { repositories: { ...git, pushUndo: never } }],
      ['after the push', { repositories: { ...git, pushUndo: async (request) => git.pushUndo(request).then(never) } }],
      ['before the pull request', { send: before }],
      ['after the pull request', { send: after }],
    ]
    for (const [step, context] of kills) {
      const about = await stage('squash')
      const attempt = proposeWith(context)(about.prompt, about.regressionId, onlyPrompt, { by: undefined, name: null })
      const killed = await Promise.race([attempt, reached(about, step)])
      assert.equal(killed, 'reached', step)
      const busy = await post(about)
      assert.equal(busy.json().error?.problem, 'busy', step)
      service.now += minute + 1
      const resumed = await post(about)
      assert.equal(resumed.statusCode, 200, `${step}: ${resumed.body}`)
      const pulls = await openPulls(about)
      assert.equal(pulls.length, 1, step)
      assert.equal(pulls[0]?.number, resumed.json().data.pr_number)
      assert.deepEqual(diffOf(about, pulls[0] as Pull), { [p]: start }, step)
      const branches = about.story.git.git('ls-remote', 'origin', 'refs/heads/promptledger/*').split('\n')
      assert.equal(branches.length, 1, step)
    }
  })

  /** Resolves once the attempt has come as far as where it is killed. */
  async function reached(about: Stage, step: string): Promise<'reached'> {
    const isThere = async () => {
      const proposal = await service.store.proposals.ofRegression(about.prompt, about.regressionId)
      if (proposal === null) return false
      if (step === 'before the push') return true
      if (step === 'after the pull request') return (await openPulls(about)).length === 1
      return about.story.git.git('ls-remote', 'origin', 'refs/heads/promptledger/*') !== ''
    }
    while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 20))
    return 'reached'
  }

  test('of requests at the same time, one opens the pull request', async () => {
    const about = await stage('merge')
    const by = { by: undefined, name: null }
    const propose = proposeWith()
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => propose(about.prompt, about.regressionId, onlyPrompt, by)),
    )
    const opened = results.filter(({ status }) => status === 'fulfilled')
    assert.ok(opened.length >= 1)
    for (const result of results) {
      if (result.status === 'rejected') assert.equal((result.reason as ProposalError).problem, 'busy')
    }
    assert.equal((await openPulls(about)).length, 1)
  })

  test('words of others cannot mention anyone, link, or close anything in the description', async () => {
    const about = await stage('squash')
    const hostile = `@${owner} fixes #1 <img src=x> [a](http://evil.example) \n# Title\n/close ![x](http://evil.example/x.png)`
    await service.app.inject({
      method: 'POST',
      url: `/api/v1/prompts/${about.prompt.publicId}/signals`,
      headers: about.live.tenant.headers,
      payload: { value: 'negative', comment: hostile },
    })
    service.now += minute
    const { pr_number: number } = (await post(about)).json().data
    const { body } = await pullOf(about, number)
    assert.match(body, /The newest negative comments:/)
    const html = await gitea
      .api<string>('POST', '/markdown', { Text: body, Mode: 'gfm', Context: `/${about.story.path}`, Wiki: false })
      .catch((error) => String(error))
    assert.doesNotMatch(html, /evil\.example"|<img|class="mention"|href="\/ada"/)
  })
})
