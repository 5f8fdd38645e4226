import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import pino from 'pino'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { bob, GitRepository, web } from '../../../testing/git-repository.ts'
import { regressionMessage } from '../../../testing/regression-message.ts'
import { figures } from '../../../testing/regressions.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import type { ForgeName, Repository } from '../../src/domain/repositories/repository.ts'
import { minute } from '../../src/domain/time.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { sendRequest } from '../../src/net/request.ts'
import { createPropose } from '../../src/proposals/propose.ts'
import { withProposals } from '../../src/service/proposals.ts'

const p = 'prompts/p.md'
const start = 'One.\nTwo.\nThree.\nFour.\nFive.\n'
const worse = start.replace('Two', 'Zwei')

const mergeMessages: { [Name in ForgeName]?: string } = {
  gitlab: "Merge branch 'shorter' into 'main'\n\nSee merge request acme/assistants/prompts!7",
  bitbucket: 'Merged in shorter (pull request #7)',
}

interface Stage {
  forge: ForgeApiServer
  git: GitRepository
  tenant: Tenant
  repository: Repository
  prompt: Prompt
  regressionId: number
}

onOneEngine('Proposals', (engine) => {
  const service = useService(engine)
  before(() => {
    Object.assign(service.syncContext, { allowHttp: true, allowPrivateAddresses: true })
  })

  /** A forge on which pull request 7 landed by a merge, and a regression of its prompt. */
  async function stage(name: ForgeName = 'github', token: string | null = 'forge-token-1'): Promise<Stage> {
    const forge = await new ForgeApiServer(name).start()
    const git = new GitRepository()
    git.commit('Start', { [p]: start, 'prompts/q.md': 'Be brief.\n' })
    git.switchTo('shorter', 'main')
    git.commit('Shorten', { [p]: worse }, { author: bob })
    git.commit('More', { 'prompts/q.md': 'Say nothing.\n' }, { author: bob })
    git.switchTo('main')
    git.merge('shorter', mergeMessages[name] ?? 'Merge pull request #7 from bob/shorter', { committer: web })
    const ref = forgeOf(name).pullRef(7)
    git.push('main', ...(ref === null ? [] : [`shorter:${ref}`]))
    Object.assign(forge, { folder: git.remote })
    const tenant = await service.tenant('free', 'admin')
    const { repository } = await service.repositories.connect(
      {
        organisationId: tenant.organisation.id,
        forge: name,
        url: forge.gitUrl,
        path: 'prompts/**',
        similarity: 50,
        token,
        secret: null,
      },
      operator,
      {},
    )
    const prompt = (await service.store.facts.prompts(repository)).find(({ path }) => path === p) as Prompt
    const { entries } = await service.store.history.page(prompt, { page: '1', limit: 1 })
    const [change] = entries
    assert.ok(change)
    await service.store.regressions.open(prompt, change, { ...figures, liveFrom: change.createdAt }, service.now)
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    return { forge, git, tenant, repository, prompt, regressionId: regression?.id as number }
  }

  const pathOf = ({ prompt, regressionId }: Stage) => `/api/v1/prompts/${prompt.publicId}/regressions/${regressionId}`
  const propose = (about: Stage, payload: object = {}, headers = about.tenant.headers) =>
    service.app.inject({ method: 'POST', url: `${pathOf(about)}/proposals`, headers, payload })
  const branches = ({ git }: Stage) =>
    git.inRemote('for-each-ref', '--format=%(refname:short)', 'refs/heads/promptledger').split('\n').filter(Boolean)

  for (const name of ['github', 'gitlab', 'gitea'] as ForgeName[]) {
    test(`a proposal on ${name} is one branch and one pull request, and asks the author and the reviewers`, async () => {
      const about = await stage(name)
      const response = await propose(about)
      assert.equal(response.statusCode, 200, response.body)
      const { branch, pr_number: number } = response.json().data
      assert.deepEqual(branches(about), [branch])
      assert.equal(about.git.inRemote('show', `${branch}:${p}`), start.trim())
      assert.equal(about.git.inRemote('diff', '--name-only', `main...${branch}`), p)
      const [pull] = about.forge.opened
      assert.deepEqual([pull?.number, pull?.base, pull?.branch], [number, 'main', branch])
      assert.deepEqual(pull?.reviewers, name === 'gitlab' ? ['11', '12'] : ['bob', 'grace'])
      const again = await propose(about)
      assert.deepEqual([again.statusCode, again.json().data.pr_number], [200, number])
      assert.equal(about.forge.opened.length, 1)
      const audit = await service.app.inject({ url: '/api/v1/audit', headers: about.tenant.headers })
      const [entry] = audit.json().data
      assert.deepEqual([entry.action, entry.subject.name, entry.details.pull], ['proposal.opened', branch, number])
    })
  }

  test('a proposal on bitbucket is one branch and one pull request, also after an attempt whose token could not open it', async () => {
    const about = await stage('bitbucket')
    const { forge, prompt, regressionId } = about
    const { store, repositories, syncContext } = service
    // Bitbucket Cloud has one address for all, so only the hosts of git and of the API are others here.
    const there = async (id: number) => {
      const repository = await store.repositories.find(id)
      return repository && { ...repository, url: forge.cloneUrl }
    }
    const proposeThere = createPropose({
      store: { ...store, repositories: { ...store.repositories, find: there } },
      ...{ vault: syncContext.vault, repositories, publicUrl: () => service.publicUrl, clock: () => service.now },
      ...{ log: pino({ level: 'silent' }), allowPrivateAddresses: true, allowHttp: true },
      send: (network, url, options) =>
        sendRequest(network, url.replace(/^https:\/\/api\.bitbucket\.org/, forge.origin), options),
    })
    const ask = () =>
      proposeThere(prompt, regressionId, { mode: 'revert', files: 'prompt' }, { by: operator, name: 'Ada' })
    forge.canOpenPulls = false
    await assert.rejects(ask(), /The token needs the scopes repository:write and pullrequest:write\..* is pushed/)
    forge.canOpenPulls = true
    const { proposal, isNew } = await ask()
    assert.deepEqual([isNew, proposal.state, branches(about)], [true, 'open', [proposal.branch]])
    assert.equal(proposal.prUrl, `https://bitbucket.org/acme/prompts/pull-requests/${proposal.prNumber}`)
    assert.equal(about.git.inRemote('diff', '--name-only', `main...${proposal.branch}`), p)
    const [pull] = forge.opened
    assert.deepEqual([pull?.number, pull?.base, pull?.branch], [proposal.prNumber, 'main', proposal.branch])
    assert.deepEqual(pull?.reviewers, ['{bob}', '{grace}'])
    const again = await ask()
    assert.deepEqual([again.isNew, again.proposal.prNumber, forge.opened.length], [false, proposal.prNumber, 1])
    Object.assign(pull as object, { state: 'closed' })
    assert.equal((await ask()).isNew, true)
    assert.equal(forge.opened.length, 2, 'one that was declined keeps a second from being proposed')
  })

  test('comments of users are quoted only where the repository is private', async () => {
    for (const isPrivate of [true, false]) {
      const about = await stage()
      about.forge.isPrivate = isPrivate
      await service.app.inject({
        method: 'POST',
        url: `/api/v1/prompts/${about.prompt.publicId}/signals`,
        headers: about.tenant.headers,
        payload: { value: 'negative', comment: 'It is @rude to me' },
      })
      service.now += minute
      await propose(about)
      const { text } = about.forge.opened[0] as { text: string }
      assert.equal(text.includes('> It is @\u2060rude to me'), isPrivate)
      assert.equal(text.includes('left out, because this repository is public'), !isPrivate)
    }
  })

  test('a branch of the same name in a fork is not taken for ours', async () => {
    const about = await stage('gitea')
    about.forge.canOpenPulls = false
    const failed = await propose(about)
    assert.match(failed.json().error.message, /The token needs the scope write:repository.* is pushed/)
    const [branch = ''] = branches(about)
    const fork = { number: 90, title: 'x', text: 'x', branch, base: 'main', state: 'open', isFork: true, reviewers: [] }
    about.forge.opened.push(fork as never)
    about.forge.canOpenPulls = true
    const resumed = await propose(about)
    assert.equal(resumed.statusCode, 200, resumed.body)
    assert.notEqual(resumed.json().data.pr_number, 90)
    assert.deepEqual(branches(about), [branch])
  })

  test('without a token, the response has the git commands that take the change back in the file of the prompt', async () => {
    const about = await stage('github', null)
    const { problem, message, commands } = (await propose(about)).json().error
    assert.equal(problem, 'no_token')
    assert.match(message, /needs a token with read and write access to Contents and Pull requests/)
    about.git.git('remote', 'set-url', 'origin', about.git.remote)
    for (const command of commands as string[]) about.git.shell(command)
    const [branch] = branches(about)
    assert.equal(about.git.inRemote('diff', '--name-only', `main...${branch}`), p)
    assert.equal(about.git.inRemote('show', `${branch}:${p}`), start.trim())
  })

  test('a branch that a rule of the repository rejects is named, and leaves nothing behind', async () => {
    const about = await stage()
    const hooks = join(about.git.remote, 'hooks')
    mkdirSync(hooks, { recursive: true })
    writeFileSync(join(hooks, 'pre-receive'), '#!/bin/sh\necho rejected >&2\nexit 1\n')
    chmodSync(join(hooks, 'pre-receive'), 0o755)
    const { problem, message } = (await propose(about)).json().error
    assert.equal(problem, 'denied')
    assert.match(message, /rules for branches have to allow promptledger\/\*/)
    assert.deepEqual([branches(about), about.forge.opened], [[], []])
  })

  test('a merged proposal repairs the regression, also where later changes keep the text different', async () => {
    const about = await stage()
    const { git, repository, forge } = about
    git.commit('Later', { [p]: worse.replace('Five', 'Fünf') })
    git.push()
    await service.repositories.sync(repository, { wait: true })
    const { branch, pr_number: number } = (await propose(about)).json().data
    git.git('fetch', '--quiet', git.remote, branch)
    const [pull] = forge.opened
    Object.assign(pull as object, { state: 'merged' })
    service.now += minute
    const at = new Date(service.now).toISOString()
    git.merge('FETCH_HEAD', `Merge pull request #${number} from acme/${branch}`, { committer: web, at })
    git.push('main', `FETCH_HEAD:refs/pull/${number}/head`)
    await service.repositories.sync(repository, { wait: true })
    service.now += 10 * minute
    await service.judge.round()
    const { data } = (await service.app.inject({ url: pathOf(about), headers: about.tenant.headers })).json()
    assert.deepEqual([data.state, data.repaired_by], ['repaired', 'revert'])
    assert.equal(data.repaired_entry.pr_number, number)
    assert.equal(data.proposal.state, 'merged')
  })

  test('a key that is limited to prompts takes back no other files, and learns of no other repository or owner', async () => {
    const about = await stage()
    const { headers: admin } = about.tenant
    const post = async (url: string, payload: object, headers = admin) =>
      (await service.app.inject({ method: 'POST', url: `/api/v1${url}`, headers, payload })).json().data
    const limited = async (role: string, prompts: string) => ({
      authorization: `Bearer ${(await post('/keys', { name: 'limited', role, prompts })).key}`,
    })
    const response = await propose(about, { files: 'change' }, await limited('standard', p))
    assertError(response, 422, 'validation_error')
    assert.deepEqual(branches(about), [])
    const headers = await limited('deploy', 'prompts/a.md')
    for (const query of ['', `&repository_id=${about.repository.id}`]) {
      const url = `/api/v1/trials/candidate?commit=${'0'.repeat(40)}${query}`
      const candidate = await service.app.inject({ url, headers })
      assert.ok(!candidate.body.includes(new URL(about.repository.url).host), candidate.body)
    }
    await service.app.inject({
      method: 'PATCH',
      url: pathOf(about),
      headers: admin,
      payload: { owner: 'ada@a.example' },
    })
    const { url: link } = await post(`/prompts/${about.prompt.publicId}/shares`, {})
    const share = { authorization: `Bearer ${link.split('#')[1]}` }
    const listed = await service.app.inject({
      url: `/api/v1/prompts/${about.prompt.publicId}/regressions?owner=bob@a.example`,
      headers: share,
    })
    assert.equal(listed.json().data.length, 1, listed.body)
  })

  test('a reader cannot propose, and a regression that is over has nothing to take back', async () => {
    const about = await stage()
    const reader = { authorization: `Bearer ${await service.key(about.tenant.organisation, 'reader')}` }
    assert.equal((await propose(about, {}, reader)).statusCode, 403)
    assert.equal((await propose(about, { mode: 'merge' })).statusCode, 422)
    const dismissed = { method: 'POST', url: `${pathOf(about)}/dismiss`, payload: { note: 'On purpose' } } as const
    await service.app.inject({ ...dismissed, headers: about.tenant.headers })
    assert.equal((await propose(about)).json().error.problem, 'over')
    assert.equal((await propose({ ...about, regressionId: 10 ** 9 })).statusCode, 404)
  })

  test('a repository that proposes reverts by itself does so once people are told, and not for others', async () => {
    const about = await stage()
    const { store } = service
    const regression = await store.regressions.find(about.prompt, about.regressionId)
    assert.ok(regression)
    const message = regressionMessage(about.repository)
    const [told] = message.prompts
    const prompts = [
      { ...(told as (typeof message.prompts)[0]), prompt: about.prompt, regressionId: about.regressionId },
    ]
    const report = withProposals(() => assert.fail('reports are off'), {
      store,
      propose: service.propose,
      log: pino({ level: 'silent' }),
    })
    const sent = { ...message, organisation: { id: about.tenant.organisation.id, name: 'Acme' }, prompts }
    await service.repositories.update(about.repository, { proposesReverts: true }, operator)
    assert.equal((await report(sent)).outcome, 'sent')
    assert.equal((await report(sent)).outcome, 'sent')
    assert.equal(about.forge.opened.length, 1)
    assert.match(about.forge.opened[0]?.text ?? '', /_Proposed by Promptledger\._/)
  })
})
