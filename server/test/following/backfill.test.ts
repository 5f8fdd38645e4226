import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { ada, bob, GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Entry, type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { BackfillProgress } from '../../src/domain/repositories/repository-service.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'
const r = 'prompts/r.md'
const megabyte = 1024 * 1024
const unknownSource = { live_source: null, environment: null, share: 1, also_live: [], environments: [] }

/** Replaces the remote by a shallow clone with this many commits. */
function makeShallow(git: GitRepository, depth: number): void {
  const cut = join(git.folder, 'cut.git')
  execFileSync('git', ['clone', '--quiet', '--bare', '--depth', String(depth), `file://${git.remote}`, cut])
  execFileSync('mv', [git.remote, join(git.folder, 'whole.git')])
  execFileSync('mv', [cut, git.remote])
}

onOneEngine('Backfill', (engine) => {
  const service = useService(engine)

  const connection = async (git: GitRepository, path: string) => ({
    organisationId: (await service.tenant('free', 'admin')).organisation.id,
    ...({ forge: 'github', url: git.remote, path, similarity: 50, token: null, secret: null } as const),
  })

  async function pages(s: Scenario, promptId: string): Promise<Entry[]> {
    const first = (await s.get(`/prompts/${promptId}/history?limit=3&page=1`)).data as Entry[]
    const second = (await s.get(`/prompts/${promptId}/history?limit=3&page=2`)).data as Entry[]
    return [...first, ...second]
  }

  test('a history whose dates go back and forth is listed by time on every page, read at once or in parts', async () => {
    const at = (day: number) => ({ at: `2026-03-0${day}T10:00:00Z` })
    const s = await connectedScenario(service, {
      prepare(git) {
        for (const day of [5, 2, 2, 7]) git.commit(`Day ${day}`, { [p]: `${Math.random()}\n` }, at(day))
        git.push()
      },
    })
    s.git.commit('Day 1', { [p]: 'one\n' }, at(1))
    s.git.commit('Day 6', { [p]: 'six\n' }, at(6))
    await s.push()
    const entries = await pages(s, await s.promptId(p))
    const days = entries.map(({ created_at }) => Number(created_at.slice(9, 10)))
    assert.deepEqual(days, [7, 6, 5, 2, 2, 1])
    assert.equal(new Set(entries.map(({ id }) => id)).size, 6, 'no entry is on two pages')
  })

  test('files that are added, moved and replaced within one batch become the right prompts', async () => {
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { [p]: 'one\n', [q]: 'two\n' })
        git.commit('Delete', { [q]: null })
        git.git('mv', p, q)
        git.commit('Move to where the other was')
        git.commit('Two more', { [p]: 'three\n', [r]: 'four\n' })
        git.push()
      },
    })
    assert.deepEqual((await s.paths()).sort(), [p, q, r, null].sort())
    const subjects = async (path: string) => {
      const id = await s.promptId(path)
      const entries = await s.historyOf(id)
      const messages = entries.map(({ id: entry }) => s.get(`/prompts/${id}/history/${entry}`))
      return (await Promise.all(messages)).map(({ data }) => (data as { message: string }).message)
    }
    assert.deepEqual(await subjects(p), ['Two more'])
    assert.deepEqual(await subjects(r), ['Two more'])
    assert.deepEqual(await subjects(q), ['Start', 'Move to where the other was'])
  })

  test('progress says how many commits have been read, up to which date and what part of the history', async () => {
    const git = new GitRepository()
    git.commit('One', { [p]: '1\n' }, { at: '2026-01-01T00:00:00Z' })
    git.commit('Two', { [p]: '2\n' }, { at: '2026-01-11T00:00:00Z' })
    git.push()
    const progress: BackfillProgress[] = []
    await service.repositories.connect(await connection(git, 'prompts/**'), operator, {
      onProgress: (each) => progress.push(each),
    })
    assert.deepEqual(progress, [{ commits: 2, reachedAt: Date.parse('2026-01-11T00:00:00Z'), share: 1 }])
  })

  test('a repository without a matching file is connected with a warning that names the nearest matches', async () => {
    const git = new GitRepository()
    git.commit('Start', {
      'prompts/a.md': 'a\n',
      'prompts/b.md': 'b\n',
      'prompts/deep/c.txt': 'c\n',
      'README.md': 'x\n',
    })
    git.push()
    const warnings = async (path: string) => {
      const connected = await service.repositories.connect(await connection(git, path), operator, {})
      assert.deepEqual(connected.prompts, [])
      return connected.warnings
    }
    const none = (path: string) => `No file of the default branch matches ${path}.`
    assert.deepEqual(await warnings('Prompts/*.MD'), [
      `${none('Prompts/*.MD')} Upper and lower case matter: prompts/*.md would match 2 files.`,
    ])
    assert.deepEqual(await warnings('prompts/*.txt'), [
      `${none('prompts/*.txt')} prompts/**/*.txt would match 1 file; **/*.txt would match 1 file; prompts/** would match 3 files.`,
    ])
    assert.deepEqual(await warnings('agents/*.yaml'), [
      `${none('agents/*.yaml')} It has 4 files, such as README.md, prompts/a.md, prompts/b.md.`,
    ])
    const connected = await service.repositories.connect(await connection(git, '**/*.{md,txt}'), operator, {})
    assert.deepEqual(connected.warnings, [])
    assert.equal(connected.prompts.length, 4)
  })

  test('a repository without commits is connected without a warning', async () => {
    const { warnings } = await service.repositories.connect(await connection(new GitRepository(), '*.md'), operator, {})
    assert.deepEqual(warnings, [])
  })

  test('files of a merged branch have the author who touched them, also if it moved a file and then rewrote it', async () => {
    const lines = (word: string) => Array.from({ length: 20 }, (_, i) => `${word} ${i}\n`).join('')
    const carol = { name: 'Carol', email: 'carol@example.com' }
    const s = await connectedScenario(service, {
      similarity: 50,
      prepare(git) {
        git.commit('Start', { [p]: lines('Old') })
        git.switchTo('feature', 'main')
        git.git('mv', p, q)
        git.commit('Move', {}, { author: bob })
        git.commit('Rewrite', { [q]: lines('New') }, { author: carol })
        git.switchTo('main')
        git.merge('feature', 'Merge pull request #7 from acme/feature', { author: ada })
        git.push('main', 'feature:refs/pull/7/head')
      },
    })
    const merged = async (path: string) => (await s.history(path)).at(-1)
    const facts = ({ action, user }: Entry) => [action, user.name]
    assert.deepEqual(facts((await merged(p)) as Entry), ['pr_merged', 'Bob'], 'gone since the move')
    assert.deepEqual(facts((await merged(q)) as Entry), ['pr_merged', 'Carol'])
  })

  test('the live version in a shallow clone is the text at its start until the first known change', async () => {
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { [p]: '1\n', [q]: 'q\n' }, { at: '2026-01-01T00:00:00Z' })
        git.commit('Two', { [p]: '2\n' }, { at: '2026-02-01T00:00:00Z' })
        git.commit('Three', { [p]: '3\n', [r]: 'new\n' }, { at: '2026-03-01T00:00:00Z' })
        git.push()
        makeShallow(git, 2)
      },
    })
    const live = async (path: string, at: string) =>
      (await s.get(`/prompts/${await s.promptId(path)}/live?at=${at}T00:00:00Z`)).data
    const unknown = { entry: null, incomplete: true, ...unknownSource }
    assert.deepEqual(await live(q, '2026-04-01'), { ...unknown, path: q, content: 'q\n', content_state: 'available' })
    assert.deepEqual(await live(p, '2026-02-10'), { ...unknown, path: p, content: '2\n', content_state: 'available' })
    assert.deepEqual(await live(p, '2026-01-10'), { ...unknown, path: p, content: null, content_state: 'unavailable' })
    const { entry, ...known } = (await live(p, '2026-03-02')) as { entry: Entry }
    assert.equal(shortSha(entry.commit_sha), shortSha(s.git.head()))
    const merged = { ...unknownSource, live_source: 'merge' }
    assert.deepEqual(known, { path: p, content: '3\n', content_state: 'available', incomplete: false, ...merged })
    const url = `/api/v1/prompts/${await s.promptId(r)}/live?at=2026-02-10T00:00:00Z`
    const added = await service.app.inject({ url, headers: s.tenant.headers })
    assert.equal(added.statusCode, 404, 'the file was added later')
  })

  test('the live version in a clone of a single commit is the text of that commit', async () => {
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('One', { [p]: '1\n' })
        git.commit('Two', { [p]: '2\n' })
        git.push()
        makeShallow(git, 1)
      },
    })
    assert.equal(s.repository.incomplete, true)
    const { data } = await s.get(`/prompts/${await s.promptId(p)}/live`)
    const content = { content: '2\n', content_state: 'available' }
    assert.deepEqual(data, { entry: null, path: p, ...content, incomplete: true, ...unknownSource })
  })

  test('texts are returned up to 16 MiB together, and larger ones are reported as too large', async () => {
    const text = (megabytes: number) => `${'x'.repeat(megabytes * megabyte - 1)}\n`
    const s = await connectedScenario(service, {
      prepare(git) {
        git.commit('Five', { [p]: text(5) })
        git.commit('Ten', { [p]: text(10) })
        git.commit('Twelve', { [p]: text(12) })
        git.commit('Seventeen', { [p]: text(17) })
        git.commit('Control characters', { [p]: '\u0001'.repeat(5 * megabyte) })
        git.commit('Gone', { [p]: null })
        git.push()
      },
    })
    const id = await s.promptId(p)
    const found: unknown[] = []
    for (const { id: entryId } of await s.historyOf(id)) {
      const { data } = await s.get(`/prompts/${id}/history/${entryId}`)
      const { before, after, before_state, after_state, hidden_characters } = data as Record<string, string | null>
      found.push([before_state, before?.length ?? null, after_state, after?.length ?? null, hidden_characters !== null])
    }
    assert.deepEqual(found, [
      ['absent', null, 'available', 5 * megabyte, false],
      ['available', 5 * megabyte, 'available', 10 * megabyte, false],
      ['too_large', null, 'available', 12 * megabyte, false],
      ['available', 12 * megabyte, 'too_large', null, false],
      ['too_large', null, 'too_large', null, false],
      ['too_large', null, 'absent', null, true],
    ])
  })
})
