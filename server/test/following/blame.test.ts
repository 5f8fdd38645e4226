import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { blameSchema } from '../../../contract/history.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { bob, type GitRepository, web } from '../../../testing/git-repository.ts'
import { connectedScenario, type Entry, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { gitRuns } from '../../src/git/run.ts'
import { commitPull } from './pull-branch.ts'

const p = 'prompts/p.md'

interface BlameBody {
  entry: Entry
  state: string
  content: string | null
  lines: { start: number; end: number; entry_id: number | null; commit_sha: string }[]
  entries: { entry: Entry; message: string | null; actor: string | null }[]
}

onOneEngine('Blame', (engine) => {
  const service = useService(engine)

  const request = (s: Scenario, id: string, query = '') =>
    service.app.inject({ url: `/api/v1/prompts/${id}/blame${query}`, headers: s.tenant.headers })

  async function blame(s: Scenario, path = p, query = ''): Promise<BlameBody> {
    const response = await request(s, await s.promptId(path), query)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(blameSchema, response)
    return response.json().data
  }

  /** The lines with the message of the change, such as `1-2 Start`. */
  function summary({ lines, entries }: BlameBody): string[] {
    const messageOf = new Map(entries.map(({ entry, message }) => [entry.id, message]))
    return lines.map(({ start, end, entry_id }) => `${start}-${end} ${messageOf.get(entry_id ?? 0) ?? null}`)
  }

  function lonely(prepare: (git: GitRepository) => void) {
    return connectedScenario(service, {
      prepare: (git) => {
        prepare(git)
        git.push()
      },
    })
  }

  test('each line has the change that brought it, through a rename, and at any version', async () => {
    const s = await lonely((git) => {
      git.commit('Start', { 'prompts/old.md': 'a\nb\nc\nd\n' })
      git.commit('Change b', { 'prompts/old.md': 'a\nB\nc\nd\n' }, { author: bob })
      git.git('mv', 'prompts/old.md', p)
      git.commit('Rename')
      git.commit('Add e', { [p]: 'a\nB\nc\nd\ne' })
    })
    const live = await blame(s)
    assert.deepEqual([live.state, live.content], ['available', 'a\nB\nc\nd\ne'])
    assert.deepEqual(summary(live), ['1-1 Start', '2-2 Change b', '3-4 Start', '5-5 Add e'])
    assert.deepEqual(
      live.entries.map(({ message, entry }) => [message, entry.user.name]),
      [
        ['Add e', 'Ada Lovelace'],
        ['Change b', 'Bob'],
        ['Start', 'Ada Lovelace'],
      ],
    )
    const history = await s.history()
    assert.deepEqual(
      live.entries.map(({ entry }) => entry),
      [history[3], history[1], history[0]],
    )
    const second = await blame(s, p, `?entry=${history[1]?.id}`)
    assert.deepEqual([second.entry, second.content], [history[1], 'a\nB\nc\nd\n'])
    assert.deepEqual(summary(second), ['1-1 Start', '2-2 Change b', '3-4 Start'])
  })

  test('the lines of a pull request belong to its merge, also if it brought several commits', async () => {
    const s = await connectedScenario(service)
    commitPull(s, 7, { [p]: 'Be kind.\nmerged 1\n' }, { [p]: 'Be kind.\nmerged 1\nmerged 2\n' })
    s.git.commit('Direct', { 'README.md': 'z\n' })
    const merge = s.git.merge('pull-7', 'Merge pull request #7 from bob/pull-7')
    await s.push()
    const base = 'Be kind.\nmerged 1\nmerged 2\n'
    const head = commitPull(s, 8, { [p]: `${base}rebased 1\n` }, { [p]: `${base}rebased 1\nrebased 2\n` })
    await s.deliver(s.forge.pull({ action: 'opened', number: 8, head, commitCount: 2 }))
    s.git.commit('Direct', { 'README.md': 'y\n' })
    const landed = s.git.rebase('pull-8', { committer: web })
    await s.push()
    const mergeCommit = landed[1] as string
    await s.deliver(s.forge.pull({ action: 'merged', number: 8, head, mergeCommit, commitCount: 2 }))
    await s.advance(60)
    const { lines, entries } = await blame(s)
    const entryOf = new Map(entries.map(({ entry }) => [entry.id, entry]))
    assert.deepEqual(
      lines.map(({ start, end, entry_id, commit_sha }) => {
        const { action, pr_number } = entryOf.get(entry_id ?? 0) as Entry
        return [start, end, action, pr_number, commit_sha]
      }),
      [
        [1, 1, 'deployed', null, (await s.history())[0]?.commit_sha],
        [2, 3, 'pr_merged', 7, merge],
        [4, 5, 'pr_merged', 8, mergeCommit],
      ],
    )
    const opened = (await s.history()).find(({ action, pr_number }) => action === 'pr_opened' && pr_number === 8)
    const of = await blame(s, p, `?entry=${opened?.id}`)
    assert.deepEqual([of.state, of.content, of.lines, of.entries], ['not_landed', null, [], []])
  })

  test('blame is what git blame --first-parent says, for 80 random changes', async () => {
    let seed = 19
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed % below
    }
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`)
    const s = await lonely((git) => {
      for (let i = 0; i < 80; i++) {
        const at = random(lines.length)
        if (random(3) === 0) lines.splice(at, 0, `added ${i}`)
        else if (random(4) === 0 && lines.length > 5) lines.splice(at, 1)
        else lines[at] = `changed ${i}`
        git.commit(`Change ${i}`, { [p]: `${lines.join('\n')}\n` })
      }
    })
    const expected = s.git
      .git('blame', '--first-parent', '-s', '-l', 'HEAD', '--', p)
      .split('\n')
      .map((line) => line.replace('^', '').slice(0, 39))
    const found = await blame(s)
    assert.equal(expected.length, lines.length)
    for (const { start, end, commit_sha, entry_id } of found.lines) {
      assert.notEqual(entry_id, null)
      for (let line = start; line <= end; line++) assert.equal(commit_sha.slice(0, 39), expected[line - 1])
    }
    assert.equal(found.lines.at(-1)?.end, lines.length)
  })

  test('paths with odd characters are read as they are', async () => {
    const paths = [' -x --', ':(top)*', 'a"b\\c', 'é 日本', '$(id);&', 'new\nline', 'HEAD^{tree}:'].map(
      (name) => `prompts/${name}.md`,
    )
    const files = (text: string) => Object.fromEntries(paths.map((path) => [path, `${path}\n${text}\n`]))
    const s = await lonely((git) => {
      git.commit('One', files('a'))
      git.commit('Two', files('b'))
    })
    const prompts = (await s.get('/prompts?limit=100')).data as { id: string; path: string | null }[]
    assert.equal(prompts.filter(({ path }) => path !== null).length, paths.length)
    for (const { id, path } of prompts.filter(({ path }) => path !== null)) {
      const lines = (path as string).split('\n').length
      const expected = [`1-${lines} One`, `${lines + 1}-${lines + 1} Two`]
      assert.deepEqual(summary((await request(s, id)).json().data), expected, path as string)
    }
  })

  test('a text that is too long, has too many lines or is no text has a state instead of lines, and git does not compare it', async () => {
    const s = await lonely((git) => {
      git.commit('Start', {
        'prompts/line.md': 'x'.repeat(16 * 1024 * 1024),
        'prompts/lines.md': 'x\n'.repeat(500_000),
        'prompts/empty-lines.md': '\n'.repeat(20_001),
        'prompts/most-lines.md': '\n'.repeat(20_000),
        'prompts/binary.md': Buffer.from('a\0b\n'),
        'prompts/empty.md': '',
        'prompts/gone.md': 'a\n',
      })
      git.commit('Delete', { 'prompts/gone.md': null })
    })
    const states: [string, string, string | null][] = [
      ['prompts/line.md', 'too_large', null],
      ['prompts/lines.md', 'too_large', null],
      ['prompts/empty-lines.md', 'too_large', null],
      ['prompts/most-lines.md', 'available', '\n'.repeat(20_000)],
      ['prompts/binary.md', 'binary', null],
      ['prompts/empty.md', 'available', ''],
    ]
    for (const [path, state, content] of states) {
      const found = await blame(s, path)
      assert.deepEqual([found.state, found.content], [state, content], path)
      assert.equal(found.lines.length, path === 'prompts/most-lines.md' ? 1 : 0)
    }
    const prompts = (await s.get('/prompts?limit=100')).data as { id: string; path: string | null; name: string }[]
    const gone = prompts.find(({ name }) => name === 'prompts/gone.md')
    const deleted = (await request(s, gone?.id as string)).json().data
    assert.deepEqual([deleted.state, deleted.content], ['absent', null])
  })

  test('an entry that does not come from git, and a commit that is gone, are unavailable; an unknown entry is not found', async () => {
    const s = await connectedScenario(service)
    const recorded = await s.tenant.recordEntry()
    const own = await request(s, s.tenant.prompt.publicId)
    assert.deepEqual([own.json().data.entry.id, own.json().data.state], [recorded.id, 'unavailable'])
    const id = await s.promptId(p)
    for (const entry of [recorded.id, 987_654_321, 'x', '0'])
      assertError(await request(s, id, `?entry=${entry}`), 404, 'not_found')
    const empty = await service.prompt(s.tenant.organisation, 'empty')
    assertError(await request(s, empty.publicId), 404, 'not_found')
    // The mirror is made again from the remote, whose history was rewritten: the commit is gone.
    const [first] = await s.history()
    rmSync(mirrorOf(service.syncContext, s.repository).path, { recursive: true })
    s.git.git('checkout', '--quiet', '--orphan', 'other')
    s.git.commit('Another history', { [p]: 'Other.\n' })
    s.git.push('other:main')
    execFileSync('git', ['-C', s.git.remote, 'reflog', 'expire', '--expire=now', '--all'])
    execFileSync('git', ['-C', s.git.remote, 'gc', '--quiet', '--prune=now'])
    assert.equal((await blame(s, p, `?entry=${first?.id}`)).state, 'unavailable')
  })

  test('lines from before the start of a shallow clone have no entry', async () => {
    const s = await connectedScenario(service, {
      prepare: (git) => {
        git.commit('Unknown', { [p]: 'a\nb\n' })
        git.commit('Boundary', { 'README.md': 'x\n' })
        git.commit('Known', { [p]: 'a\nB\n' })
        git.push()
        const shallow = `${git.folder}/shallow.git`
        execFileSync('git', ['clone', '--quiet', '--bare', '--depth=2', `file://${git.remote}`, shallow])
        rmSync(git.remote, { recursive: true })
        execFileSync('mv', [shallow, git.remote])
      },
    })
    const found = await blame(s)
    assert.deepEqual([found.state, summary(found)], ['available', ['1-1 null', '2-2 Known']])
  })

  test('100 requests for one blame run git once, and many different ones delay neither texts nor other organisations', async () => {
    const s = await lonely((git) => {
      for (let i = 0; i < 30; i++) git.commit(`Change ${i}`, { [p]: `${i}\n` })
    })
    const other = await connectedScenario(service)
    const id = await s.promptId(p)
    const before = gitRuns.started
    const same = await Promise.all(Array.from({ length: 100 }, () => request(s, id)))
    assert.ok(same.every(({ statusCode }) => statusCode === 200))
    const started = gitRuns.started - before
    assert.ok(started > 0 && started <= 5, `git ran ${started} times`)
    await request(s, id)
    assert.equal(gitRuns.started - before, started)
    const entries = await s.historyOf(id)
    const flood = entries.map((entry) => request(s, id, `?entry=${entry.id}`))
    assert.equal((await blame(other)).state, 'available')
    const url = `/api/v1/prompts/${id}/history/${entries[0]?.id}`
    assert.equal((await service.app.inject({ url, headers: s.tenant.headers })).json().data.after, '0\n')
    const responses = await Promise.all(flood)
    for (const response of responses) {
      assert.equal(response.statusCode, 200, response.body)
      assert.equal(response.json().data.state, 'available')
    }
  })
})
