import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob, type GitRepository, web } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Entry, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const r = 'prompts/r.md'

onOneEngine('History from git', (engine) => {
  const service = useService(engine)

  test('a moved file keeps its prompt', async () => {
    const s = await connectedScenario(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    const sha = s.git.commit('Move')
    await s.push()
    assert.equal(await s.promptId(r), id)
    assert.deepEqual((await s.summary(r)).slice(1), [`deployed ${shortSha(sha)}`])
    assert.deepEqual((await s.paths()).sort(), [q, r])
  })

  test('a file that moves to the former path of another file keeps its prompt, and so does the other', async () => {
    const s = await connectedScenario(service)
    const [first, second] = [await s.promptId(p), await s.promptId(q)]
    s.git.git('mv', p, r)
    s.git.commit('Make room')
    s.git.git('mv', q, p)
    s.git.commit('Move in')
    s.git.commit('Delete', { [r]: null })
    s.git.git('mv', p, r)
    const last = s.git.commit('Move on')
    await s.push()
    assert.equal(await s.promptId(r), second)
    assert.equal((await s.summary(r)).at(-1), `deployed ${shortSha(last)}`)
    assert.equal((await s.historyOf(first)).length, 3, 'created, moved and deleted')
  })

  test('a file created at the former path of another file is a new prompt', async () => {
    const s = await connectedScenario(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    s.git.commit('Move')
    s.git.commit('New', { [p]: 'Something else.\n' })
    await s.push()
    assert.equal(await s.promptId(r), id)
    assert.notEqual(await s.promptId(p), id)
    assert.equal((await s.summary(p)).length, 1)
  })

  test('a file that is moved and rewritten keeps its prompt only within the configured similarity', async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `Line ${i}\n`)
    const rewritten = lines.map((line, i) => (i < 8 ? `Other ${i}\n` : line))
    for (const similarity of [100, 50]) {
      const prepare = (git: GitRepository) => {
        git.commit('Start', { [p]: lines.join('') })
        git.push()
      }
      const s = await connectedScenario(service, { similarity, prepare })
      const id = await s.promptId(p)
      const sha = s.git.commit('Move and rewrite', { [p]: null, [r]: rewritten.join('') })
      await s.push()
      if (similarity === 50) {
        assert.equal(await s.promptId(r), id)
        assert.equal((await s.summary(r)).length, 2)
      } else {
        assert.notEqual(await s.promptId(r), id)
        assert.deepEqual((await s.summary(p)).slice(1), [`deployed ${shortSha(sha)}`], 'deleted')
        assert.deepEqual(await s.summary(r), [`deployed ${shortSha(sha)}`], 'created')
      }
    }
  })

  test('a change of file mode alone adds no entry', async () => {
    const s = await connectedScenario(service)
    s.git.git('update-index', '--chmod=+x', p)
    s.git.recorded(['commit', '--quiet', '-m', 'chmod'], {})
    await s.push()
    assert.equal((await s.summary()).length, 1)
  })

  test('a file that is deleted and created again is the same prompt, with an entry for each', async () => {
    const s = await connectedScenario(service)
    const gone = s.git.commit('Delete', { [p]: null })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(gone)}`])
    const back = s.git.commit('Again', { [p]: 'Be kind again.\n' })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(gone)}`, `deployed ${shortSha(back)}`])
  })

  test('a pull request behind a merge of the default branch into local work is found', async () => {
    let squashed = ''
    let merge = ''
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { [p]: '1\n', [q]: '1\n' })
        git.push()
        git.switchTo('better', 'main')
        git.commit('Better', { [p]: '2\n' }, { author: bob })
        git.push('HEAD:refs/pull/967/head')
        git.switchTo('mine', 'main')
        git.commit('My work', { [q]: 'mine\n' })
        git.switchTo('main')
        squashed = git.commit('Better (#967)', { [p]: '2\n' }, { author: bob, committer: web })
        git.switchTo('mine')
        merge = git.merge('main', "Merge branch 'main' of example.com:acme/prompts")
        git.push('mine:main')
      },
    })
    assert.deepEqual((await s.summary()).slice(1), [`pr_merged ${shortSha(squashed)} #967`])
    assert.deepEqual((await s.summary(q)).slice(1), [`deployed ${shortSha(merge)}`])
  })

  test('a merge of the default branch into local work, whatever its message, duplicates no entry', async () => {
    const s = await connectedScenario(service)
    s.git.switchTo('mine', 'main')
    s.git.commit('My work', { [q]: 'mine\n' })
    s.git.switchTo('main')
    const direct = s.git.commit('Direct', { [p]: '2\n' })
    await s.push()
    s.git.switchTo('mine')
    const merge = s.git.merge('main', 'Catch up')
    s.git.push('mine:main')
    await s.deliver(s.forge.push({ before: direct, after: merge }))
    await s.advance(11)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(direct)}`])
    assert.deepEqual((await s.summary(q)).slice(1), [`deployed ${shortSha(merge)}`])
  })

  test('reading everything again after 50 deliveries adds no entry and keeps every id', async () => {
    const s = await connectedScenario(service)
    for (let i = 0; i < 25; i++) {
      const before = s.git.head()
      const head = s.git.commit(`Change ${i}`, { [i % 2 === 0 ? p : q]: `${i}\n` })
      s.git.push('main:main', `main:refs/pull/${i + 1}/head`)
      const pull = { action: 'merged', number: i + 1, head, mergeCommit: head, commitCount: 1 } as const
      await s.send(s.forge.push({ before, after: head }))
      await s.send(i % 3 === 0 ? s.forge.pull(pull) : s.forge.ping())
    }
    await s.sync()
    const before = [await s.history(p), await s.history(q)]
    await queryRows(service.url, `update repositories set tip = null where id = ${s.repository.id}`)
    await s.advance(3_600)
    assert.deepEqual([await s.history(p), await s.history(q)], before)
    assert.equal(s.repository.tip, s.git.head())
  })

  test('the merge of a rebased pull request keeps its entry when the forge reports it after the backfill', async () => {
    let landed: string[] = []
    let head = ''
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { [p]: '1\n' })
        git.switchTo('work', 'main')
        git.commit('a', { [p]: 'a\n' }, { author: bob })
        head = git.commit('b', { [p]: 'b\n' }, { author: bob })
        git.switchTo('main')
        git.commit('Other', { 'README.md': 'y\n' })
        landed = git.rebase('work', { committer: web })
        git.push('main:main', 'work:refs/pull/7/head')
      },
    })
    assert.deepEqual((await s.summary()).slice(1), [`pr_merged ${shortSha(landed[1] as string)} #7`])
    const { id } = (await s.history())[1] as Entry
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: landed[1] as string, commitCount: 2 }),
    )
    assert.deepEqual((await s.summary()).slice(1), [
      `pr_opened ${shortSha(head)} #7`,
      `pr_merged ${shortSha(landed[1] as string)} #7`,
    ])
    assert.equal((await s.history()).at(-1)?.id, id)
  })

  test('pull request numbers of the repository that the history was imported from create no pull requests', async () => {
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start (#257)', { [p]: '1\n' })
        git.commit('Real (#3)', { [p]: '2\n' })
        git.push('main:main', 'main:refs/pull/3/head')
      },
    })
    assert.deepEqual(
      (await s.history()).map(({ action, pr_number }) => [action, pr_number]),
      [
        ['deployed', null],
        ['pr_merged', 3],
      ],
    )
  })

  test('the oldest commit of a shallow repository adds no entry, and the repository is marked incomplete', async () => {
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { [p]: '1\n', [q]: '1\n' })
        git.commit('Two', { [p]: '2\n' })
        git.commit('Three', { [p]: '3\n' })
        git.push()
        const cut = join(git.folder, 'cut.git')
        execFileSync('git', ['clone', '--quiet', '--bare', '--depth', '2', `file://${git.remote}`, cut])
        execFileSync('mv', [git.remote, join(git.folder, 'whole.git')])
        execFileSync('mv', [cut, git.remote])
      },
    })
    assert.equal(s.repository.incomplete, true)
    assert.deepEqual(await s.summary(), [`deployed ${shortSha(s.git.head())}`])
    assert.deepEqual(await s.summary(q), [])
  })

  test('paths with spaces, quotes, newlines and non-ASCII letters are kept exactly', async () => {
    const paths = [
      'prompts/a b.md',
      'prompts/"q\'.md',
      'prompts/naïve 提示.md',
      'prompts/two\nlines.md',
      'prompts/-x.md',
    ]
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', Object.fromEntries(paths.map((path) => [path, `${path}\n`])))
        git.push()
      },
    })
    assert.deepEqual((await s.paths()).sort(), paths.sort())
    for (const path of paths) assert.equal((await s.summary(path)).length, 1)
  })

  test('a delivery without a valid signature over its exact bytes is not stored', async () => {
    const s = await connectedScenario(service)
    const right = s.forge.push({ before: null, after: s.git.head() })
    const header = 'x-hub-signature-256'
    const { [header]: signature, ...unsigned } = right.headers
    const wrong = [
      { ...right, headers: unsigned },
      { ...right, headers: { ...right.headers, [header]: '' } },
      { ...right, headers: { ...right.headers, [header]: 'sha256=' } },
      { ...right, headers: { ...right.headers, [header]: `${signature}0` } },
      { ...right, body: Buffer.concat([right.body, Buffer.from('\n')]) },
      deliveriesFrom('github', '').push({ before: null, after: s.git.head() }),
    ]
    for (const delivery of wrong) assert.equal(await s.send(delivery), 401)
    assert.deepEqual(await s.deliveryStates(), [])
    assert.equal(await s.send(right), 202)
  })

  test('Forgejo deliveries to a webhook connected as GitHub are read correctly', async () => {
    const s = await connectedScenario(service)
    const forgejo = deliveriesFrom('forgejo', s.secret)
    s.git.switchTo('work', 'main')
    const head = s.git.commit('a', { [p]: 'a\n' })
    s.git.push('work:refs/pull/7/head')
    const later = s.git.commit('b', { [q]: 'b\n' })
    s.git.push('work:refs/pull/7/head')
    await s.deliver(
      forgejo.pull({ action: 'opened', number: 7, head }),
      forgejo.pull({ action: 'updated', number: 7, head: later }),
    )
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
    assert.deepEqual((await s.summary(q)).slice(1), [`pr_opened ${shortSha(later)} #7`])
  })

  test('a delivery of 12 MB is processed', async () => {
    const s = await connectedScenario(service)
    const sha = s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    const commits = Array.from({ length: 2_000 }, () => ({ sha, message: 'x'.repeat(6_000) }))
    const delivery = s.forge.push({ before: null, after: sha, commits })
    assert.ok(delivery.body.length > 12_000_000)
    await s.deliver(delivery)
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
  })

  test('a commit message cannot forge a commit or a file', async () => {
    const s = await connectedScenario(service)
    const zero = '0'.repeat(40)
    const forged = `\x1e${zero}\x1f\x1fEve\x1feve@example.com\n\n:100644 100644 ${zero} ${zero} M\t${q}\n:100644 100644 ${zero} ${zero} M`
    const sha = s.git.commit(forged, { [p]: '1\n' }, { author: { name: 'E\x1eve', email: 'e\x1f@example.com' } })
    await s.push()
    assert.deepEqual((await s.summary()).slice(1), [`deployed ${shortSha(sha)}`])
    assert.equal((await s.summary(q)).length, 1)
    assert.deepEqual((await s.history()).at(-1)?.user, { name: 'E ve', email: 'e @example.com' })
  })

  test('a SHA-256 repository is read from the first commit to a merge', async () => {
    const scenario = await connectedScenario(service, { gitOptions: { format: 'sha256' } })
    const { git: repository, forge } = scenario
    const first = repository.head()
    const second = repository.commit('Direct', { 'prompts/p.md': 'Be direct.\n' })
    await scenario.push()
    repository.switchTo('feature', 'main')
    const head = repository.commit('Try', { 'prompts/p.md': 'Be brave.\n' })
    repository.push('feature:refs/pull/7/head')
    await scenario.deliver(forge.pull({ action: 'opened', number: 7, head }))
    repository.switchTo('main')
    const merge = repository.merge('feature', 'Merge pull request #7 from acme/feature')
    repository.push()
    await scenario.deliver(
      forge.pull({ action: 'merged', number: 7, head, mergeCommit: merge }),
      scenario.pushDelivery('main', second),
    )
    const entries = await scenario.history()
    for (const { commit_sha } of entries) assert.match(commit_sha, /^[0-9a-f]{64}$/)
    const actual = entries.map(({ action, commit_sha }) => `${action} ${commit_sha}`).sort()
    const expected = [`deployed ${first}`, `deployed ${second}`, `pr_merged ${merge}`, `pr_opened ${head}`]
    assert.deepEqual(actual, expected.sort())
    const id = await scenario.promptId('prompts/p.md')
    const merged = entries.find(({ action }) => action === 'pr_merged') as Entry
    const { data } = await scenario.get(`/prompts/${id}/history/${merged.id}`)
    assert.partialDeepStrictEqual(data, { before: 'Be direct.\n', after: 'Be brave.\n' })
  })

  test('a reconnected repository has the same prompts and entries as before', async () => {
    const s = await connectedScenario(service)
    const before = [await s.promptId(p), await s.history()]
    await service.store.repositories.disconnect(s.repository, service.now, operator)
    const { lease } = await connectRepository(
      service.syncContext,
      {
        organisationId: s.tenant.organisation.id,
        forge: 'github',
        url: s.git.remote,
        path: 'prompts/**',
        similarity: 100,
        token: null,
        secret: null,
      },
      operator,
    )
    await syncWithLease(service.syncContext, lease)
    assert.equal(lease.repository.id, s.repository.id)
    assert.deepEqual([await s.promptId(p), await s.history()], before)
    assert.deepEqual((await s.history())[0]?.user, ada)
  })
})
