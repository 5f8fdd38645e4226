import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Entry } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { createFolder, megabyte } from './git-environment.ts'

onOneEngine('A hostile repository', (engine) => {
  const service = useService(engine)

  test('paths, authors and messages are kept apart, whatever bytes they contain', async () => {
    const sha = 'a'.repeat(40)
    const record = `:100644 100644 ${sha} ${sha} M`
    const names: [string, string][] = [
      ['prompts/new\nline.md', 'prompts/new\nline.md'],
      ['prompts/"quoted" \\ $(id) `id`.md', 'prompts/"quoted" \\ $(id) `id`.md'],
      ['prompts/\x01\x1b[31m\x1e\x1f\x7f.md', 'prompts/\x01\x1b[31m\x1e\x1f\x7f.md'],
      [`prompts/\n${record}\tx.md`, `prompts/\n${record}\tx.md`],
      ['prompts/*.md', 'prompts/*.md'],
      ['prompts/--output=x.md', 'prompts/--output=x.md'],
      ['prompts/\xff\xfe.md', 'prompts/\\xff\\xfe.md'],
      ['prompts/caf\xe9 \xc3\xa9.md', 'prompts/caf\\xe9 é.md'],
      ['prompts/e\xcc\x81.md', 'prompts/e\u0301.md'],
    ]
    const messages: [string, string][] = [
      [`${record}\tprompts/p.md\n\n${sha}\n${record}\n`, `${record}\tprompts/p.md\n\n${sha}\n${record}`],
      ['\x1e\x1f\x01 caf\xe9 \xf0\x9d\x92\xb3', '\x1e\x1f\x01 caf\ufffd 𝒳'],
      ['', ''],
      ['-- \n--end-of-options\n"\'\\', '-- \n--end-of-options\n"\'\\'],
      // For git too, a message ends at the first NUL.
      [`shown\0${sha}\0\0Eve\0eve@x\0Eve\0eve@x\x000\x000\0forged\0\n${record}\0prompts/p.md\0`, 'shown'],
    ]
    const authors: [string, { name: string; email: string }][] = [
      ['Caf\xe9 <caf\xe9@x>', { name: 'Caf\ufffd', email: 'caf\ufffd@x' }],
      ['\x1e\x1fA"\'\\\x01B <a\x01b@x>', { name: 'A"\'\\ B', email: 'a b@x' }],
      [' <>', { name: 'unknown', email: 'unknown' }],
      [`${record} <:100644>`, { name: record, email: ':100644' }],
    ]
    const commits: { sha: string; path: string; message: string; user: object }[] = []
    const scenario = await connectedScenario(service, {
      prepare(repository) {
        let parent: string | null = null
        for (let i = 0; i < names.length; i++) {
          const [name, path] = names[i] as (typeof names)[0]
          const [message, shown] = messages[i % messages.length] as (typeof messages)[0]
          const [author, user] = authors[i % authors.length] as (typeof authors)[0]
          const commit: string = writeCommit(repository, { parent, name, message, author, content: `${i}\n` })
          commits.push({ sha: commit, path, message: shown, user })
          parent = commit
        }
        repository.inRemote('update-ref', 'refs/heads/main', parent as string)
      },
    })
    assert.deepEqual((await scenario.paths()).sort(), commits.map(({ path }) => path).sort())
    for (const [i, { sha, path, message, user }] of commits.entries()) {
      const id = await scenario.promptId(path)
      const [entry, ...more] = await scenario.historyOf(id)
      assert.deepEqual(more, [], path)
      const { data } = await scenario.get(`/prompts/${id}/history/${(entry as Entry).id}`)
      const expected = { commit_sha: sha, user, message, path, before: null, after: `${i}\n`, action: 'deployed' }
      assert.partialDeepStrictEqual(data, expected)
    }
  })

  test('links, submodules, attributes and paths of a hostile repository are treated as plain text', async () => {
    const folder = createFolder()
    const [marker, secret] = [join(folder, 'ran'), join(folder, 'secret')]
    writeFileSync(secret, 'PRIVATE')
    const zeros = Buffer.alloc(8 * megabyte)
    const scenario = await connectedScenario(service, {
      prepare(repository) {
        repository.commit('Start', {
          'prompts/p.md': 'Be kind.\r\n$Id$\n',
          'prompts/large.md': zeros,
          '.gitmodules': `[submodule "m"]\n\tpath = prompts/m\n\turl = ext::touch ${marker}\n\tupdate = !touch ${marker}\n`,
          '.mailmap': 'Eve <eve@example.com> <ada@example.com>\n',
        })
        const hostile = 'filter=evil diff=evil merge=evil ident eol=lf working-tree-encoding=UTF-16'
        repository.write({ '.gitattributes': `prompts/* ${hostile}\n` })
        symlinkSync(secret, join(repository.checkout, 'prompts', 'link.md'))
        const module = ['--add', '--cacheinfo', `160000,${'a'.repeat(40)},prompts/m`]
        // Only these two, because git would apply the attributes to the other files as well.
        repository.git('add', '.gitattributes', 'prompts/link.md')
        repository.git('update-index', ...module)
        repository.recorded(['commit', '--quiet', '-m', 'Links'], {})
        repository.push()
        commitParentPath(repository, 'prompts', '..', 'above.md')
      },
    })
    assert.deepEqual((await scenario.paths()).sort(), [
      'prompts/../above.md',
      'prompts/large.md',
      'prompts/link.md',
      'prompts/p.md',
    ])
    const latest = async (path: string) => {
      const id = await scenario.promptId(path)
      const entry = (await scenario.historyOf(id)).at(-1) as Entry
      const { data } = await scenario.get(`/prompts/${id}/history/${entry.id}`)
      return data as Entry & { after: string | null }
    }
    const { after: text, user } = await latest('prompts/p.md')
    assert.deepEqual([text, user.name], ['Be kind.\r\n$Id$\n', 'Ada Lovelace'])
    assert.equal((await latest('prompts/link.md')).after, secret)
    assert.equal((await latest('prompts/large.md')).after, null)
    assert.equal((await latest('prompts/../above.md')).after, 'above\n')
    assert.ok(!existsSync(marker))
    const files = readdirSync(service.syncContext.dataDir, { recursive: true }).map(String)
    assert.deepEqual(
      files.filter((file) => /\.md$|gitmodules|hooks/.test(file)),
      [],
      'files were checked out',
    )
  })

  test('mirrors are readable only by the user of the service', async () => {
    await connectedScenario(service)
    const folder = join(service.syncContext.dataDir, 'mirrors')
    const mirrors = readdirSync(folder)
    assert.ok(mirrors.length > 0)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    for (const name of mirrors) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o700, name)
  })
})

interface RawCommit {
  parent: string | null
  /** Each character stands for one byte. */
  name: string
  message: string
  author: string
  content: string
}

/** Writes a commit directly into the remote, because `git commit` would reject or fix much of its content. */
function writeCommit({ remote }: GitRepository, { parent, name, message, author, content }: RawCommit): string {
  const write = (args: string[], input: Buffer) =>
    execFileSync('git', args, { cwd: remote, input, stdio: 'pipe' }).toString().trim()
  const blob = write(['hash-object', '-w', '--stdin'], Buffer.from(content))
  const before = parent === null ? Buffer.alloc(0) : execFileSync('git', ['ls-tree', '-rz', parent], { cwd: remote })
  const folder = Buffer.from(before.toString('latin1').replaceAll('\tprompts/', '\t'), 'latin1')
  const added = Buffer.from(`100644 blob ${blob}\t${name.slice('prompts/'.length)}\0`, 'latin1')
  const prompts = write(['mktree', '-z'], Buffer.concat([folder, added]))
  const tree = write(['mktree', '-z'], Buffer.from(`040000 tree ${prompts}\tprompts\0`))
  const parents = parent === null ? '' : `parent ${parent}\n`
  const people = `author ${author} 1793491200 +0000\ncommitter ${author} 1793491200 +0000\n`
  const commit = Buffer.from(`tree ${tree}\n${parents}${people}\n${message}`, 'latin1')
  return write(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], commit)
}

/** Adds a commit with a file in a folder called `..`, which no checkout could create. */
function commitParentPath({ remote }: GitRepository, folder: string, above: string, name: string): void {
  const write = (args: string[], input: Buffer) =>
    execFileSync('git', args, { cwd: remote, input, stdio: 'pipe' }).toString().trim()
  const literally = ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally']
  const raw = (mode: string, name: string, id: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
  const show = (object: string) => execFileSync('git', ['cat-file', 'tree', object], { cwd: remote })
  const idOf = (object: string) => execFileSync('git', ['rev-parse', object], { cwd: remote }).toString().trim()
  const blob = write(['hash-object', '-w', '--stdin'], Buffer.from('above\n'))
  const inner = write(literally, raw('100644', name, blob))
  const outer = write(literally, Buffer.concat([raw('40000', above, inner), show(`main:${folder}`)]))
  const listed = execFileSync('git', ['ls-tree', '-z', 'main'], { cwd: remote }).toString()
  const tree = write(['mktree', '-z', '--missing'], Buffer.from(listed.replace(idOf(`main:${folder}`), outer)))
  const people =
    'author Ada Lovelace <ada@example.com> 1793491200 +0000\ncommitter Ada <ada@example.com> 1793491200 +0000\n'
  const commit = Buffer.from(`tree ${tree}\nparent ${idOf('main')}\n${people}\nAbove\n`)
  const sha = write(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], commit)
  execFileSync('git', ['update-ref', 'refs/heads/main', sha], { cwd: remote })
}
