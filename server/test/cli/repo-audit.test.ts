import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { runCli } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type LandedPulls, repositoryWithLandedPulls } from '../../../testing/landed-pulls.ts'

interface Audited {
  commit_sha: string
  subject: string | null
  path: string
  action: string
  pr_number: number | null
  line: { text: string; commands: string[] }
  pull_request: { proof: string; text: string; commands: string[] }
  agrees: boolean
}

onOneEngine('The audit of a repository', (engine) => {
  let landed: LandedPulls
  let env: NodeJS.ProcessEnv
  let all: Audited[]

  before(async () => {
    const database = await engine.create()
    const dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    onTestEnd(() => rm(dataDir, { recursive: true }))
    const secretKey = randomBytes(32).toString('hex')
    env = { DATABASE_URL: database.url, DATA_DIR: dataDir, PROMPTLEDGER_SECRET_KEY: secretKey }
    landed = repositoryWithLandedPulls()
    await cli('org', 'create', 'Acme')
    const remote = ['--org', '1', '--forge', 'github', '--url', landed.git.remote]
    await cli('repo', 'connect', ...remote, '--path', 'prompts/*.md')
    all = await audit()
  })

  async function cli(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCli(env, args)
    assert.equal(code, 0, stderr)
    return stdout
  }

  async function audit(...options: string[]): Promise<Audited[]> {
    return JSON.parse(await cli('repo', 'audit', '1', ...options, '--json'))
  }

  function auditOf(commit: string): Audited {
    const found = all.find(({ commit_sha }) => commit_sha === commit)
    assert.ok(found, `no entry of ${commit} was examined`)
    return found
  }

  test('a merge is proven by the head of the pull request that it merges', async () => {
    const { pr_number, pull_request, agrees } = auditOf(landed.commits.merge)
    assert.deepEqual([pr_number, pull_request.proof, agrees], [7, 'head', true])
    const head = landed.git.head('merged')
    assert.match(pull_request.text, new RegExp(`merges ${head.slice(0, 12)}, the head of pull request 7`))
    const [list = '', parents = ''] = pull_request.commands
    assert.match(run(list), new RegExp(head))
    assert.match(run(parents), new RegExp(head))
  })

  test('a squash is proven by its title and the date of the head', async () => {
    const { pr_number, pull_request, agrees } = auditOf(landed.commits.squash)
    assert.deepEqual([pr_number, pull_request.proof, agrees], [8, 'squash', true])
  })

  test('a rebase is proven by the same commits in a row', async () => {
    const { pr_number, pull_request, agrees } = auditOf(landed.commits.rebaseLast)
    assert.deepEqual([pr_number, pull_request.proof, agrees], [9, 'rebase', true])
    const [line = '', fetch = '', original = ''] = pull_request.commands
    const copies = run(line)
    run(fetch)
    assert.equal(run(original), copies)
  })

  test('a commit that only mentions a pull request says so', async () => {
    const { pr_number, pull_request, agrees } = auditOf(landed.commits.mention)
    assert.deepEqual([pr_number, pull_request.proof, agrees], [null, 'none', true])
    assert.match(pull_request.text, /the message names 7, but nothing proves/)
    assert.match((await cli('repo', 'audit', '1')).split(landed.commits.mention)[1] ?? '', /^ ".*7.*"\n/)
  })

  test('a commit behind a merge into local work names the merge, and the command finds the commit', async () => {
    const { line } = auditOf(landed.commits.direct)
    assert.match(line.text, new RegExp(`leaves the first parents at ${landed.commits.foxtrot.slice(0, 12)}`))
    assert.match(run(line.commands[0] ?? ''), new RegExp(landed.commits.direct))
  })

  test('a smaller sample is spread over the history, and the seed selects it', async () => {
    const some = await audit('--sample', '3')
    assert.equal(some.length, 3)
    assert.deepEqual(some, await audit('--sample', '3'))
    const places = some.map(({ commit_sha }) => all.findIndex((each) => each.commit_sha === commit_sha))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
    assert.notDeepEqual(some, await audit('--sample', '3', '--seed', '2'))
  })

  test('a commit that is the head of a pull request itself says why that proves nothing', async () => {
    const { direct } = landed.commits
    landed.git.push(`${direct}:refs/pull/11/head`)
    const found = (await audit()).find(({ commit_sha }) => commit_sha === direct)
    assert.deepEqual([found?.pr_number, found?.agrees], [null, true])
    assert.match(found?.pull_request.text ?? '', /the head of 11, but so is that of one that leads from here/)
    assert.match(run(found?.pull_request.commands[1] ?? ''), /refs\/pull\/11\/head/)
  })

  test('the text ends with whether the evidence supports the entries', async () => {
    const text = await cli('repo', 'audit', '1')
    assert.match(text, /\d+ entries examined\. The evidence supports all of them\.\n$/)
    assert.match(text, / {5}\$ git rev-list --first-parent [0-9a-f]{40} \| grep [0-9a-f]{40}/)
  })

  /** Runs a printed command in the checkout. */
  function run(command: string): string {
    return landed.git.shell(command)
  }
})
