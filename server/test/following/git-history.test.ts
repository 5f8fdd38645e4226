import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { ada, bob, type GitRepository, web } from '../../../testing/git-repository.ts'
import { deliveries } from '../../../testing/payloads.ts'
import { connected, short } from '../../../testing/scenario.ts'
import { queryRows, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const r = 'prompts/r.md'

onEachEngine('Git: history', (engine) => {
  const service = useService(engine)

  test('case 37: a file that moves keeps its prompt', async () => {
    const s = await connected(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    const sha = s.git.commit('Move')
    await s.push()
    assert.equal(await s.promptId(r), id)
    assert.deepEqual((await s.story(r)).slice(1), [`deployed ${short(sha)}`])
    assert.deepEqual((await s.paths()).sort(), [q, r])
  })

  test('a file that moves to where another was keeps its prompt, and the other its own', async () => {
    const s = await connected(service)
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
    assert.equal((await s.story(r)).at(-1), `deployed ${short(last)}`)
    assert.equal((await s.historyOf(first)).length, 3, 'it started, moved and went')
  })

  test('a file made where another has moved from is a prompt of its own', async () => {
    const s = await connected(service)
    const id = await s.promptId(p)
    s.git.git('mv', p, r)
    s.git.commit('Move')
    s.git.commit('New', { [p]: 'Something else.\n' })
    await s.push()
    assert.equal(await s.promptId(r), id)
    assert.notEqual(await s.promptId(p), id)
    assert.equal((await s.story(p)).length, 1)
  })

  test('case 38: a move with a rewrite keeps its prompt only where the repository was connected so', async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `Line ${i}\n`)
    const rewritten = lines.map((line, i) => (i < 8 ? `Other ${i}\n` : line))
    for (const similarity of [100, 50]) {
      const prepare = (git: GitRepository) => {
        git.commit('Start', { [p]: lines.join('') })
        git.push()
      }
      const s = await connected(service, { similarity, prepare })
      const id = await s.promptId(p)
      const sha = s.git.commit('Move and rewrite', { [p]: null, [r]: rewritten.join('') })
      await s.push()
      if (similarity === 50) {
        assert.equal(await s.promptId(r), id)
        assert.equal((await s.story(r)).length, 2)
      } else {
        assert.notEqual(await s.promptId(r), id)
        assert.deepEqual((await s.story(p)).slice(1), [`deployed ${short(sha)}`], 'it went')
        assert.deepEqual(await s.story(r), [`deployed ${short(sha)}`], 'it came')
      }
    }
  })

  test('case 39: a file that only becomes executable has not changed', async () => {
    const s = await connected(service)
    s.git.git('update-index', '--chmod=+x', p)
    s.git.recorded(['commit', '--quiet', '-m', 'chmod'], {})
    await s.push()
    assert.equal((await s.story()).length, 1)
  })

  test('case 40: a file that goes and comes back is one prompt with both', async () => {
    const s = await connected(service)
    const gone = s.git.commit('Delete', { [p]: null })
    await s.push()
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(gone)}`])
    const back = s.git.commit('Again', { [p]: 'Be kind again.\n' })
    await s.push()
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(gone)}`, `deployed ${short(back)}`])
  })

  test('case 42: a pull request behind a merge of the default branch into itself is found', async () => {
    let squashed = ''
    let merge = ''
    const s = await connected(service, {
      prepare(git) {
        git.commit('Start', { [p]: '1\n', [q]: '1\n' })
        git.push('HEAD:refs/pull/967/head')
        git.push()
        git.switchTo('mine', 'main')
        git.commit('My work', { [q]: 'mine\n' })
        git.switchTo('main')
        squashed = git.commit('Better (#967)', { [p]: '2\n' }, { author: bob, committer: web })
        git.switchTo('mine')
        merge = git.merge('main', "Merge branch 'main' of example.com:acme/prompts")
        git.push('mine:main')
      },
    })
    assert.deepEqual((await s.story()).slice(1), [`pr_merged ${short(squashed)} #967`])
    assert.deepEqual((await s.story(q)).slice(1), [`deployed ${short(merge)}`])
  })

  test('a merge of the default branch into itself, whatever it is called, tells nothing twice', async () => {
    const s = await connected(service)
    s.git.switchTo('mine', 'main')
    s.git.commit('My work', { [q]: 'mine\n' })
    s.git.switchTo('main')
    const direct = s.git.commit('Direct', { [p]: '2\n' })
    await s.push()
    s.git.switchTo('mine')
    const merge = s.git.merge('main', 'Catch up')
    s.git.push('mine:main')
    await s.deliver(s.forge.push({ before: direct, after: merge }))
    await s.after(11)
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(direct)}`])
    assert.deepEqual((await s.story(q)).slice(1), [`deployed ${short(merge)}`])
  })

  test('case 43: reading everything again after 50 deliveries adds nothing and keeps every id', async () => {
    const s = await connected(service)
    for (let i = 0; i < 25; i++) {
      const before = s.git.head()
      const head = s.git.commit(`Change ${i}`, { [i % 2 === 0 ? p : q]: `${i}\n` })
      s.git.push('main:main', `main:refs/pull/${i + 1}/head`)
      const pull = { action: 'merged', number: i + 1, head, mergeCommit: head, commitCount: 1 } as const
      await s.send(s.forge.push({ before, after: head }))
      await s.send(i % 3 === 0 ? s.forge.pull(pull) : s.forge.ping())
    }
    await s.work()
    const before = [await s.history(p), await s.history(q)]
    await queryRows(service.url, `update repositories set tip = null where id = ${s.repository.id}`)
    await s.after(3_600)
    assert.deepEqual([await s.history(p), await s.history(q)], before)
    assert.equal(s.repository.tip, s.git.head())
  })

  test('case 44: what was taken for deployed when the repository was read becomes pr_merged when the forge tells', async () => {
    let landed: string[] = []
    let head = ''
    const s = await connected(service, {
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
    assert.deepEqual(
      (await s.story()).slice(1),
      landed.map((sha) => `deployed ${short(sha)}`),
    )
    await s.deliver(
      s.forge.pull({ action: 'merged', number: 7, head, mergeCommit: landed[1] as string, commitCount: 2 }),
    )
    assert.deepEqual((await s.story()).slice(1), [
      `pr_opened ${short(head)} #7`,
      `pr_merged ${short(landed[1] as string)} #7`,
    ])
  })

  test('case 45: numbers of another repository, from which the history was imported, make no pull requests', async () => {
    const s = await connected(service, {
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

  test('case 46: the oldest commit of a repository that was cut off tells nothing, and the repository says so', async () => {
    const s = await connected(service, {
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
    assert.deepEqual(await s.story(), [`deployed ${short(s.git.head())}`])
    assert.deepEqual(await s.story(q), [])
  })

  test('case 47: paths with spaces, quotes, newlines and any letters are exact', async () => {
    const paths = [
      'prompts/a b.md',
      'prompts/"q\'.md',
      'prompts/naïve 提示.md',
      'prompts/two\nlines.md',
      'prompts/-x.md',
    ]
    const s = await connected(service, {
      prepare(git) {
        git.commit('Start', Object.fromEntries(paths.map((path) => [path, `${path}\n`])))
        git.push()
      },
    })
    assert.deepEqual((await s.paths()).sort(), paths.sort())
    for (const path of paths) assert.equal((await s.story(path)).length, 1)
  })

  test('case 48 and 49: without the right signature over the very bytes nothing is stored', async () => {
    const s = await connected(service)
    const right = s.forge.push({ before: null, after: s.git.head() })
    const header = 'x-hub-signature-256'
    const { [header]: signature, ...unsigned } = right.headers
    const wrong = [
      { ...right, headers: unsigned },
      { ...right, headers: { ...right.headers, [header]: '' } },
      { ...right, headers: { ...right.headers, [header]: 'sha256=' } },
      { ...right, headers: { ...right.headers, [header]: `${signature}0` } },
      { ...right, body: Buffer.concat([right.body, Buffer.from('\n')]) },
      deliveries('github', '').push({ before: null, after: s.git.head() }),
    ]
    for (const delivery of wrong) assert.equal(await s.send(delivery), 401)
    assert.deepEqual(await s.deliveryStates(), [])
    assert.equal(await s.send(right), 202)
  })

  test('case 50: a Forgejo that sends to a hook of GitHub is read right', async () => {
    const s = await connected(service)
    const forgejo = deliveries('forgejo', s.secret)
    s.git.switchTo('work', 'main')
    const head = s.git.commit('a', { [p]: 'a\n' })
    s.git.push('work:refs/pull/7/head')
    const later = s.git.commit('b', { [q]: 'b\n' })
    s.git.push('work:refs/pull/7/head')
    await s.deliver(
      forgejo.pull({ action: 'opened', number: 7, head }),
      forgejo.pull({ action: 'updated', number: 7, head: later }),
    )
    assert.deepEqual((await s.story()).slice(1), [`pr_opened ${short(head)} #7`])
    assert.deepEqual((await s.story(q)).slice(1), [`pr_opened ${short(later)} #7`])
  })

  test('case 51: a delivery of 12 MB is taken', async () => {
    const s = await connected(service)
    const sha = s.git.commit('One', { [p]: '1\n' })
    s.git.push()
    const commits = Array.from({ length: 2_000 }, () => ({ sha, message: 'x'.repeat(6_000) }))
    const delivery = s.forge.push({ before: null, after: sha, commits })
    assert.ok(delivery.body.length > 12_000_000)
    await s.deliver(delivery)
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(sha)}`])
  })

  test('case 59: what somebody writes into a message cannot pass for a commit or a file', async () => {
    const s = await connected(service)
    const zero = '0'.repeat(40)
    const forged = `\x1e${zero}\x1f\x1fEve\x1feve@example.com\n\n:100644 100644 ${zero} ${zero} M\t${q}\n:100644 100644 ${zero} ${zero} M`
    const sha = s.git.commit(forged, { [p]: '1\n' }, { author: { name: 'E\x1eve', email: 'e\x1f@example.com' } })
    await s.push()
    assert.deepEqual((await s.story()).slice(1), [`deployed ${short(sha)}`])
    assert.equal((await s.story(q)).length, 1)
    assert.deepEqual((await s.history()).at(-1)?.user, { name: 'E ve', email: 'e @example.com' })
  })

  test('SHA-256 repositories are followed like any other', async () => {
    const s = await connected(service, { gitOptions: { format: 'sha256' } })
    const sha = s.git.commit('One', { [p]: '1\n' })
    await s.push()
    assert.equal(sha.length, 64)
    assert.equal((await s.history()).at(-1)?.commit_sha, sha)
  })

  test('a repository that is connected again has its prompts and every entry as before', async () => {
    const s = await connected(service)
    const before = [await s.promptId(p), await s.history()]
    await service.store.repositories.disconnect(s.repository, service.now, operator)
    const { lease } = await connectRepository(
      service.follow,
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
    await syncWithLease(service.follow, lease)
    assert.equal(lease.repository.id, s.repository.id)
    assert.deepEqual([await s.promptId(p), await s.history()], before)
    assert.deepEqual((await s.history())[0]?.user, ada)
  })
})
