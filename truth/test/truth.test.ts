import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, test } from 'node:test'
import { onTestEnd } from '../../testing/cleanup.ts'
import { runCli } from '../../testing/cli.ts'
import { bob, GitRepository, web } from '../../testing/git-repository.ts'
import { type LandedPulls, repositoryWithLandedPulls } from '../../testing/landed-pulls.ts'
import { type CheckOptions, checkBackfill, checkClone } from '../check.ts'
import { type OpenedClone, openClone } from '../clone.ts'
import { type Heads, readHeads } from '../heads.ts'
import { readLine } from '../line.ts'
import { named } from '../message.ts'
import { backfill, type Cli, type Product } from '../product.ts'
import { isTrue, type Report, toText } from '../report.ts'
import type { Tally } from '../tally.ts'

const cli: Cli = async (env, args) => {
  const { code, stdout, stderr } = await runCli(env, args)
  assert.equal(code, 0, stderr)
  return stdout
}
const options: CheckOptions = {
  forge: 'github',
  url: undefined,
  glob: 'prompts/*.md',
  similarity: 50,
  sample: 50,
  cli,
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-truth-'))
  onTestEnd(() => rm(folder, { recursive: true, force: true }))
  const template = process.env.TEST_SQLITE_TEMPLATE
  if (template !== undefined) await copyFile(template, join(folder, 'truth.db'))
  return folder
}

function classOf(report: Report, name: string): Tally {
  const found = report.classes.find((tally) => tally.name.endsWith(name))
  assert.ok(found, `no class ${name}`)
  return found
}

const check = async (path: string, changed: Partial<CheckOptions> = {}) =>
  checkClone(path, await newFolder(), { ...options, ...changed }, () => {})

interface Backfilled {
  clone: OpenedClone
  heads: Heads
  product: Product
}

async function backfilled(path: string): Promise<Backfilled> {
  const folder = await newFolder()
  const clone = await openClone(path, folder, undefined)
  const heads = await readHeads(clone, 'github', clone.tip)
  return { clone, heads, product: await backfill(folder, clone.path, { ...options, path: options.glob }) }
}

/** Compares again after this change to the database, and undoes it. */
async function checkChanged({ clone, heads, product }: Backfilled, sql: string, commit: string): Promise<Report> {
  const db = new DatabaseSync(product.database)
  try {
    db.exec('create table before_change as select * from history_entries')
    const { changes } = db.prepare(sql).run(commit)
    assert.ok(changes > 0, 'the statement changed nothing')
    return await checkBackfill(clone, heads, product, options, () => {})
  } finally {
    db.exec('delete from history_entries; insert into history_entries select * from before_change')
    db.exec('drop table before_change')
    db.close()
  }
}

describe('The comparison of a backfill with git', () => {
  let landed: LandedPulls
  let clone: OpenedClone
  let heads: Heads
  let product: Product

  before(async () => {
    landed = repositoryWithLandedPulls()
    ;({ clone, heads, product } = await backfilled(landed.git.remote))
  })

  const checkAfter = (sql: string, commit: string) => checkChanged({ clone, heads, product }, sql, commit)

  test('a right backfill is right in every class, and each kind of pull request is checked', async () => {
    const report = await checkBackfill(clone, heads, product, options, () => {})
    assert.ok(isTrue(report), toText(report))
    const counts = report.classes.map(({ name, right, missing, wrong }) => [name, right > 0, missing, wrong])
    assert.deepEqual(counts, [
      ['line of commits', true, 0, 0],
      ['entries', true, 0, 0],
      ['authors', true, 0, 0],
      ['times', true, 0, 0],
      ['texts', true, 0, 0],
      ['renames', false, 0, 0],
      ['pull requests: merges', true, 0, 0],
      ['pull requests: squashes', true, 0, 0],
      ['pull requests: rebases', true, 0, 0],
      ['pull requests: fast-forwards', false, 0, 0],
      ['pull requests: invented', false, 0, 0],
    ])
  })

  test('an invented pull request is found', async () => {
    const { mention } = landed.commits
    const report = await checkAfter(
      "update history_entries set action = 'pr_merged', pr_number = 7, pr_url = 'https://x.example' where commit_sha = ?",
      mention,
    )
    assert.ok(!isTrue(report))
    assert.equal(classOf(report, 'invented').wrong, 1)
    assert.equal(classOf(report, 'invented').examples[0]?.commit, mention)
  })

  test('a missed pull request is found', async () => {
    const { merge } = landed.commits
    const report = await checkAfter(
      "update history_entries set action = 'deployed', pr_number = null, pr_url = null where commit_sha = ?",
      merge,
    )
    assert.ok(!isTrue(report))
    assert.match(classOf(report, 'merges').examples[0]?.reason ?? '', /none instead of #7/)
  })

  test('a wrong author and a wrong time are found', async () => {
    const { direct } = landed.commits
    const sql = "update history_entries set user_name = 'Eve', created_at = created_at + 1 where commit_sha = ?"
    const report = await checkAfter(sql, direct)
    assert.match(classOf(report, 'authors').examples[0]?.reason ?? '', /Eve instead of Ada Lovelace/)
    assert.equal(classOf(report, 'times').wrong, 1)
  })

  test('an entry that does not exist is found', async () => {
    const report = await checkAfter('delete from history_entries where commit_sha = ?', landed.commits.squash)
    assert.match(classOf(report, 'entries').examples[0]?.reason ?? '', /no entry/)
  })

  test('a clone without heads of pull requests is checked as far as git proves anything, and the report says so', async () => {
    const { git } = landed
    const plain = join(git.folder, 'plain')
    git.git('clone', '--quiet', git.remote, plain)
    const report = await check(plain)
    assert.match(report.notes.join('\n'), /no heads of pull requests/)
    assert.equal(classOf(report, 'line of commits').missing, 0)
    assert.equal(classOf(report, 'merges').right + classOf(report, 'merges').missing, 0)
  })

  test('a clone with heads of pull requests among its remote-tracking branches is checked like a mirror', async () => {
    const { git } = landed
    const fetched = join(git.folder, 'fetched')
    git.git('clone', '--quiet', git.remote, fetched)
    git.shell(`git -C ${fetched} fetch --quiet origin 'refs/pull/*/head:refs/remotes/origin/pr/*'`)
    const report = await check(fetched)
    assert.equal(classOf(report, 'merges').right, 1)
  })
})

const setPull = (number: number) =>
  `update history_entries set action = 'pr_merged', pr_number = ${number}, pr_url = 'https://x.example' where commit_sha = ?`

describe('A pull request that did not land', () => {
  test('is found, if another one with the same commits landed', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.switchTo('first', 'main')
    git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' }, { author: bob })
    git.switchTo('main')
    git.commit('Add notes', { 'notes.txt': 'Notes\n' })
    const [landed = ''] = git.rebase('first')
    git.push('main', 'first:refs/pull/7/head', 'main:refs/pull/8/head')
    const found = await backfilled(git.remote)
    const right = await checkBackfill(found.clone, found.heads, found.product, options, () => {})
    assert.ok(isTrue(right), toText(right))
    const report = await checkChanged(found, setPull(7), landed)
    assert.equal(classOf(report, 'invented').examples[0]?.commit, landed)
  })

  test('is found, if the commit with its number is of an imported history', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.switchTo('pull', 'main')
    git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' }, { author: bob })
    git.git('checkout', '--quiet', '--orphan', 'theirs')
    git.commit('Begin elsewhere', { 'prompts/p.md': 'Be quick.\n' })
    const imported = git.commit('Be quicker (#7)', { 'prompts/p.md': 'Be quicker.\n' }, { author: bob, committer: web })
    git.push('theirs:main', 'pull:refs/pull/7/head')
    const found = await backfilled(git.remote)
    const right = await checkBackfill(found.clone, found.heads, found.product, options, () => {})
    assert.ok(isTrue(right), toText(right))
    const report = await checkChanged(found, setPull(7), imported)
    assert.equal(classOf(report, 'invented').examples[0]?.commit, imported)
  })
})

describe('A message', () => {
  test('names all numbers of its subject, the last first, however the forge and people write them', () => {
    for (const [subject, numbers] of [
      ['Be kinder (#7)', [7]],
      ['Be kinder (gh-7)', [7]],
      ['Be kinder (GH-7)', [7]],
      ['Fix #6: be kinder #7', [7, 6]],
      ['Be kinder', []],
    ] as const) {
      assert.deepEqual(named({ subject, message: subject }, 'github').numbers, numbers, subject)
    }
  })
})

describe('A clone', () => {
  test('with a history of another project behind a merge is followed along its own', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.git('checkout', '--quiet', '--orphan', 'other')
    git.commit('Another project', { 'prompts/other.md': 'Other\n', 'prompts/p.md': null })
    git.switchTo('main')
    const own = git.commit('Own', { 'prompts/p.md': 'Be kinder.\n' })
    git.recorded(
      [
        'merge',
        '--quiet',
        '--no-ff',
        '--allow-unrelated-histories',
        '-m',
        "Merge branch 'main' of https://x.example/other",
        'other',
      ],
      {},
    )
    git.push()
    const report = await check(git.remote)
    assert.ok(isTrue(report), toText(report))
    assert.ok(classOf(report, 'line of commits').right >= 2, own)
  })

  test("in which a fork's branch was pushed is followed along the repository's own, where a pull request had updated the fork", async () => {
    for (const [source, isUpdate] of [
      ['acme/main', true],
      ['acme/feature', false],
      ['bob/main', false],
    ] as const) {
      const git = new GitRepository()
      git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
      git.switchTo('fork', 'main')
      const inFork = git.commit('In the fork', { 'prompts/p.md': 'Be kinder.\n' }, { author: bob, committer: bob })
      git.switchTo('pull', 'main')
      git.commit('Pull', { 'prompts/q.md': 'Be very brief.\n' })
      git.switchTo('main')
      const merge = git.merge('pull', 'Merge pull request #7 from ada/pull', { committer: web })
      git.switchTo('fork')
      git.merge('main', `Merge pull request #1 from ${source}\n\nUpdate`, { author: bob, committer: web })
      git.push('fork:main', 'pull:refs/pull/7/head')
      git.inRemote('config', 'remote.origin.url', 'https://github.com/acme/prompts.git')
      const clone = await openClone(git.remote, await newFolder(), undefined)
      const heads = await readHeads(clone, 'github', clone.tip)
      const judge = { ...clone, forge: 'github', heads, projects: new Set(['acme/prompts']) }
      const line = (await readLine(clone, clone.tip, 'github', judge)).commits.map(({ sha }) => sha)
      assert.deepEqual([line.includes(merge), line.includes(inFork)], [isUpdate, !isUpdate], source)
      const report = await check(git.remote)
      assert.ok(isTrue(report), toText(report))
    }
  })

  test('in which local work has a copy of a merge, with its message, is followed along what it pulled', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
    git.switchTo('pull', 'main')
    git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' }, { author: bob })
    git.switchTo('local', 'main')
    git.squash('pull', 'Merge pull request #7 from bob/pull', { author: bob })
    git.switchTo('main')
    const direct = git.commit('Direct', { 'prompts/q.md': 'Be very brief.\n' }, { author: bob, committer: bob })
    git.switchTo('local')
    git.merge('main', "Merge branch 'main' of https://github.com/acme/prompts")
    git.push('local:main', 'pull:refs/pull/7/head')
    git.inRemote('config', 'remote.origin.url', 'https://github.com/acme/prompts.git')
    const report = await check(git.remote)
    assert.ok(isTrue(report), toText(report))
    assert.match(report.notes.join('\n'), /leaves the first parents at 1 merge;/, direct)
  })

  test('with pull requests that were rebased and squashed, and applied again after they were undone, has one landing of each', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
    git.switchTo('pull', 'main')
    const title = 'Be kinder,\nand say so'
    git.commit(title, { 'prompts/p.md': 'Be kinder.\n' }, { author: bob })
    git.switchTo('main')
    git.commit('Direct', { 'prompts/q.md': 'Be very brief.\n' })
    git.rebase('pull')
    git.commit('Undo', { 'prompts/p.md': 'Be kind.\n' })
    git.rebase('pull')
    git.switchTo('squashed', 'main')
    git.commit('Be short', { 'prompts/q.md': 'Be short.\n' }, { author: bob })
    git.switchTo('main')
    const squash = git.commit('Be short (#8)', { 'prompts/q.md': 'Be short.\n' }, { author: bob })
    git.commit('Undo again', { 'prompts/q.md': 'Be very brief.\n' })
    git.git('cherry-pick', squash)
    git.push('main', 'pull:refs/pull/7/head', 'squashed:refs/pull/8/head')
    const report = await check(git.remote)
    assert.ok(isTrue(report), toText(report))
    const right = ['rebases', 'squashes'].map((name) => classOf(report, name).right)
    assert.deepEqual([...right, classOf(report, 'invented').wrong], [1, 1, 0])
  })

  test('with moves is checked for each of them', async () => {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'one\ntwo\nthree\nfour\n' })
    git.commit('Move and edit', { 'prompts/p.md': null, 'prompts/q.md': 'one\ntwo\nthree\nfive\n' })
    git.push()
    const report = await check(git.remote)
    assert.ok(isTrue(report), toText(report))
    assert.equal(classOf(report, 'renames').right, 1)
  })
})
