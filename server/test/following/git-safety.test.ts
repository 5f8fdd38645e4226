import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onEachEngine } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { connected, type Entry, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { repositoryUrl } from '../../src/domain/repositories/repository.ts'
import { newVault } from '../../src/domain/repositories/vault.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { ensureMirror, fetchBranch, type Mirror } from '../../src/git/mirror.ts'
import { type Remote, readRemoteHead, remoteEnvironment } from '../../src/git/remote.ts'
import { git } from '../../src/git/run.ts'

const token = 'ghp_SECRETTOKEN0123456789'
const megabyte = 1024 * 1024

/** Runs the work with these variables in the environment of the process, which is where git's own comes from. */
async function withEnvironment<T>(env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-safety-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function newRemote(files: Record<string, string | Buffer>): GitRepository {
  const repository = new GitRepository()
  after(() => repository.remove())
  repository.commit('Start', files)
  repository.push()
  return repository
}

/** A program that is found before any other of its name. */
function programBefore(name: string, text: string): { folder: string; PATH: string } {
  const folder = newFolder()
  writeFileSync(join(folder, name), text, { mode: 0o755 })
  return { folder, PATH: `${folder}:${process.env.PATH}` }
}

const remoteAt = (url: string): Remote => ({ url, credentials: null, allowLocal: false, allowRedirects: false })

describe('Addresses of repositories', () => {
  const right = [
    'https://github.com/acme/prompts.git',
    'https://git.example:8443/a/b',
    'https://[::1]/a/b.git',
    'ssh://git@git.example/acme/prompts.git',
    'ssh://git.example:2222/~ada/prompts',
    'git@github.com:acme/prompts.git',
    'ada.l-x_1@git-1.example:prompts',
  ]
  const wrong = [
    '',
    ' ',
    'ext::sh -c touch% /tmp/x',
    'ext::git@host:path',
    'fd::17',
    'transport::https://h/r',
    '-u',
    '--upload-pack=touch /tmp/x',
    '-oProxyCommand=x@host:path',
    '-x@host:path',
    'ssh://-oProxyCommand=x/path',
    'ssh://-x@host/path',
    'ssh://%2doProxyCommand=x/path',
    'ssh://%2DoProxyCommand=x@host/path',
    'git@-oProxyCommand:path',
    'git@host:-path',
    'ssh:-oProxyCommand=x/path',
    'https:host/path',
    'https:/host/path',
    'https:\\\\host\\path',
    'https://host\\@elsewhere/r',
    'https://host\\:password@elsewhere/r',
    'https://host/a\\b',
    ' https://h/r',
    'http://h/r',
    'git://h/r',
    'ftp://h/r',
    'rsync://h/r',
    'git+ssh://h/r',
    'javascript:alert(1)',
    'https://',
    'https://user@h/r',
    'https://user:password@h/r',
    'https://:password@h/r',
    'ssh://git:password@h/r',
    'https://h/r?x=1',
    'https://h/r#x',
    'https://h/r\n',
    'https://h/\0r',
    'git@h:a\tb',
    'git@h:a b',
    'git@h',
    'h:path',
    'prompts.git',
    './prompts.git',
    '../prompts.git',
    '~/prompts.git',
    'C:\\prompts',
    'file://host/prompts.git',
    `https://h/${'x'.repeat(2_000)}`,
  ]
  const local = ['/srv/prompts.git', 'file:///srv/prompts.git']

  test('may be https, ssh and git@host:path', () => {
    for (const url of right) for (const allow of [false, true]) assert.equal(repositoryUrl(url, allow), url)
  })

  test('may be nothing else, and what is refused says so', () => {
    for (const url of wrong) {
      for (const allow of [false, true]) {
        assert.throws(() => repositoryUrl(url, allow), { code: 'validation_error', message: /^url must / }, url)
      }
    }
  })

  test('may be a folder of this machine only where that is allowed', () => {
    for (const url of local) {
      assert.equal(repositoryUrl(url, true), url)
      assert.throws(() => repositoryUrl(url, false), { message: /ALLOW_LOCAL_REPOSITORIES=1/ })
    }
  })

  test('that got past all of that still do not make git run a program or read a folder', async () => {
    const folder = newFolder()
    const marker = join(folder, 'ran')
    const { remote } = newRemote({ 'a.md': 'a\n' })
    const urls = [
      `ext::touch ${marker}`,
      `--upload-pack=touch ${marker};`,
      remote,
      `file://${remote}`,
      'http://127.0.0.1:1/r',
    ]
    for (const url of urls) await assert.rejects(readRemoteHead(remoteAt(url)), { name: 'GitError' }, url)
    assert.ok(!existsSync(marker))
  })
})

describe('ssh', () => {
  test('is given an address as one argument and a quoted path, asks nobody, and trusts no host that it does not know', async () => {
    const { folder, PATH } = programBefore(
      'ssh',
      '#!/bin/sh\nfor word; do printf "%s\\n" "$word" >> "$(dirname "$0")/log"; done\nexit 1\n',
    )
    const marker = join(folder, 'ran')
    for (const url of [`git@host:a;touch\${IFS}${marker}`, `ssh://git@host/$(touch%20${marker})/'\`id\``]) {
      repositoryUrl(url, false)
      await withEnvironment({ PATH }, () => assert.rejects(readRemoteHead(remoteAt(url)), { name: 'GitError' }))
      const words = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
      rmSync(join(folder, 'log'))
      const options = words.filter((word) => word.startsWith('-'))
      assert.ok(options.includes('-oBatchMode=yes'))
      assert.ok(!options.some((option) => /ProxyCommand|StrictHostKeyChecking/i.test(option)), options.join())
      assert.ok(words.includes('git@host'), words.join())
      assert.match(words.at(-1) as string, /^git-upload-pack '.*'$/)
    }
    assert.ok(!existsSync(marker))
  })
})

describe('What git is told about a remote', () => {
  /** The value that git itself finds for the address. */
  async function settingFor(remote: Remote, name: string, url: string): Promise<string> {
    const found = await git(['config', '--get-urlmatch', name, url], { env: remoteEnvironment(remote) }).catch(() => '')
    return found.toString().trim()
  }

  test('is the token for that server only', async () => {
    const remote = {
      ...remoteAt('https://git.example/acme/prompts.git'),
      credentials: { user: 'x-access-token', token },
    }
    const header = `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
    for (const url of ['https://git.example/acme/prompts.git/info/refs', 'https://git.example/other']) {
      assert.equal(await settingFor(remote, 'http.extraHeader', url), header)
    }
    for (const url of [
      'https://git.example.evil/acme/prompts.git',
      'https://sub.git.example/acme/prompts.git',
      'https://git.example:8443/acme/prompts.git',
      'http://git.example/acme/prompts.git',
      'https://127.0.0.1/',
    ]) {
      assert.equal(await settingFor(remote, 'http.extraHeader', url), '', url)
    }
    const withPort = { ...remote, url: 'https://git.example:8443/r' }
    assert.equal(await settingFor(withPort, 'http.extraHeader', 'https://git.example:8443/r'), header)
    assert.equal(await settingFor(withPort, 'http.extraHeader', 'https://git.example/r'), '')
  })

  test('is no token for an address that is not https', () => {
    for (const url of ['ssh://git@h/r', 'git@h:r', '/srv/r']) {
      const environment = JSON.stringify(
        remoteEnvironment({ ...remoteAt(url), credentials: { user: 'x-access-token', token }, allowLocal: true }),
      )
      assert.ok(!environment.includes(Buffer.from(token).toString('base64').slice(4, 20)), url)
      assert.ok(!environment.includes('Authorization'), url)
    }
  })

  test('is to follow no redirect unless that is allowed', async () => {
    const url = 'https://git.example/r'
    assert.equal(await settingFor(remoteAt(url), 'http.followRedirects', url), 'false')
    assert.equal(await settingFor({ ...remoteAt(url), allowRedirects: true }, 'http.followRedirects', url), 'initial')
  })

  test('is to speak https and ssh alone, and to read folders only of local addresses', () => {
    assert.equal(remoteEnvironment(remoteAt('https://h/r')).GIT_ALLOW_PROTOCOL, 'https:ssh')
    const local = { ...remoteAt('/srv/r'), allowLocal: true }
    assert.equal(remoteEnvironment(local).GIT_ALLOW_PROTOCOL, 'https:ssh:file')
  })
})

describe('A git that does not end', () => {
  /** An ssh that notes its process and never answers. */
  const silent = '#!/bin/sh\necho $$ >> "$(dirname "$0")/pids"\nexec sleep 60\n'

  /** An ssh that serves the repository of this machine, a little at a time. */
  const slow = `#!${process.execPath}
const { spawn } = require('node:child_process')
const { appendFileSync } = require('node:fs')
appendFileSync(__dirname + '/pids', process.pid + '\\n')
const child = spawn('sh', ['-c', process.argv.at(-1)], { stdio: ['inherit', 'pipe', 'inherit'] })
child.stdout.on('data', (chunk) => {
  child.stdout.pause()
  process.stdout.write(chunk)
  setTimeout(() => child.stdout.resume(), 20)
})
child.stdout.on('end', () => appendFileSync(__dirname + '/finished', ''))
`

  function processesOf(folder: string): number[] {
    const file = join(folder, 'pids')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
  }

  async function assertEnded(folder: string): Promise<void> {
    const pids = processesOf(folder)
    assert.ok(pids.length > 0, 'it never ran')
    for (const pid of pids) {
      const deadline = performance.now() + 2_000
      while (isRunning(pid)) {
        assert.ok(performance.now() < deadline, `process ${pid} goes on running`)
        await pause(10)
      }
    }
  }

  function isRunning(pid: number): boolean {
    try {
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    } catch {
      return false
    }
  }

  function mirrorIn(folder: string, url: string, sizeLimit: number): Mirror {
    return { path: join(folder, 'mirror.git'), remote: remoteAt(url), sizeLimit }
  }

  function temporaryFilesOf({ path }: Mirror): string[] {
    return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => /tmp_|\.lock$/.test(file))
  }

  test('is ended with all that it started once its time is over', async () => {
    const { folder, PATH } = programBefore('ssh', silent)
    await withEnvironment({ PATH }, async () => {
      const start = performance.now()
      const asked = git(['ls-remote', 'git@h:r'], { timeout: 300, env: remoteEnvironment(remoteAt('git@h:r')) })
      await assert.rejects(asked, { name: 'GitError', message: 'git ls-remote: it took too long' })
      assert.ok(performance.now() - start < 2_000, 'it was not ended in time')
      await assertEnded(folder)
    })
  })

  test('is ended with all that it started once the repository is too large, and leaves nothing behind', async () => {
    const repository = newRemote({ 'big.bin': randomBytes(12 * megabyte) })
    const { folder, PATH } = programBefore('ssh', slow)
    const mirror = mirrorIn(newFolder(), `git@h:${repository.remote}`, megabyte)
    await withEnvironment({ PATH }, async () => {
      await ensureMirror(mirror, repository.head())
      const message = `git fetch: the repository is larger than ${megabyte} bytes (REPOSITORY_SIZE_LIMIT)`
      await assert.rejects(fetchBranch(mirror, 'main'), { name: 'GitError', message })
      await assertEnded(folder)
      assert.ok(!existsSync(join(folder, 'finished')), 'all of it was fetched')
      assert.deepEqual(temporaryFilesOf(mirror), [])
    })
  })

  test('counts as too large also where it was too quick to be ended', async () => {
    const repository = newRemote({ 'big.bin': randomBytes(2 * megabyte) })
    const url = repository.remote
    const mirror = { ...mirrorIn(newFolder(), url, megabyte), remote: { ...remoteAt(url), allowLocal: true } }
    await ensureMirror(mirror, repository.head())
    await assert.rejects(fetchBranch(mirror, 'main'), { message: /larger than 1048576 bytes/ })
    await fetchBranch({ ...mirror, sizeLimit: 4 * megabyte }, 'main')
  })

  test('is ended once it prints more than anybody wants', async () => {
    const repository = newRemote({ 'big.txt': 'x'.repeat(megabyte) })
    const printed = git(['cat-file', 'blob', 'HEAD:big.txt'], { mirror: repository.remote, limit: 1_000 })
    await assert.rejects(printed, { name: 'GitError', message: 'git cat-file: it printed more than 1000 bytes' })
  })
})

describe('Stored secrets', () => {
  const key = randomBytes(32)
  const vault = newVault(key)

  test('open to what was sealed, with their key alone', () => {
    for (const text of ['', 'x', 'Grüße 𝒳\n', 'x'.repeat(10_000)]) {
      const sealed = vault.seal(text)
      assert.equal(vault.open(sealed), text)
      assert.equal(newVault(Buffer.from(key)).open(sealed), text)
      assert.throws(() => newVault(randomBytes(32)).open(sealed), { message: /PROMPTLEDGER_SECRET_KEY is not the one/ })
    }
  })

  test('look different each time, and never like what they hold', () => {
    const sealed = new Set(Array.from({ length: 100 }, () => vault.seal(token)))
    assert.equal(sealed.size, 100)
    for (const text of sealed) {
      assert.match(text, /^v1:[A-Za-z0-9+/]+=*$/)
      assert.ok(!Buffer.from(text.slice(3), 'base64').includes(token.slice(0, 8)))
    }
  })

  test('do not open when a bit was changed, or part of them is missing', () => {
    const bytes = Buffer.from(vault.seal('secret').slice(3), 'base64')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] as number) ^ 1
      assert.throws(() => vault.open(`v1:${changed.toString('base64')}`), /cannot be read/, `byte ${i}`)
      assert.throws(() => vault.open(`v1:${bytes.subarray(0, i).toString('base64')}`), /cannot be read/, `${i} bytes`)
    }
    assert.throws(() => vault.open(''), /cannot be read/)
    assert.throws(() => vault.open('secret'), /cannot be read/)
  })
})

/** A home and an environment in which everything that git could run, or be misled by, is set. */
function hostile(): { env: Record<string, string>; marker: string } {
  const home = newFolder()
  const marker = join(home, 'ran')
  const script = join(home, 'script')
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${marker}\nexit 1\n`, { mode: 0o755 })
  const names = ['reference-transaction', 'post-checkout', 'pre-auto-gc', 'post-update', 'pre-receive', 'update']
  for (const folder of ['hooks', 'template/hooks']) {
    mkdirSync(join(home, folder), { recursive: true })
    for (const name of names) writeFileSync(join(home, folder, name), readFileSync(script), { mode: 0o755 })
  }
  mkdirSync(join(home, 'exec'))
  for (const name of ['git-upload-pack', 'git-remote-https', 'git-index-pack']) {
    writeFileSync(join(home, 'exec', name), readFileSync(script), { mode: 0o755 })
  }
  const config = `
[core]
  hooksPath = ${home}/hooks
  fsmonitor = ${script}
  pager = ${script}
  sshCommand = ${script}
  askPass = ${script}
  gitProxy = ${script}
  attributesFile = ${home}/.config/git/attributes
  quotePath = true
  abbrev = 4
[credential]
  helper = ${script}
[url "/nowhere/"]
  insteadOf = ${tmpdir()}
  insteadOf = https://
[alias]
  fetch = !${script}
  log = !${script}
  ls-remote = !${script}
[pager]
  log = ${script}
[diff]
  external = ${script}
  noprefix = true
  context = 0
  renames = copies
  orderFile = ${home}/nothing
[diff "evil"]
  textconv = ${script}
  command = ${script}
[uploadpack]
  packObjectsHook = ${script}
[log]
  showSignature = true
  date = relative
  follow = true
[gpg]
  program = ${script}
[color]
  ui = always
[i18n]
  logOutputEncoding = UTF-16
[init]
  templateDir = ${home}/template
  defaultObjectFormat = sha256
[protocol]
  allow = never
[fetch]
  prune = true
  output = full
[transfer]
  hideRefs = refs/heads
[extensions]
  objectFormat = sha256
`
  writeFileSync(join(home, '.gitconfig'), config)
  mkdirSync(join(home, '.config', 'git'), { recursive: true })
  writeFileSync(join(home, '.config', 'git', 'config'), config)
  writeFileSync(join(home, '.config', 'git', 'attributes'), '* diff=python\n')
  const programs = ['GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_PAGER', 'PAGER', 'GIT_EDITOR']
  const env: Record<string, string> = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    ...Object.fromEntries([...programs, 'GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND'].map((name) => [name, script])),
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: join(home, 'hooks'),
    GIT_CONFIG_PARAMETERS: `'core.hookspath'='${home}/hooks'`,
    GIT_EXEC_PATH: join(home, 'exec'),
    GIT_TEMPLATE_DIR: join(home, 'template'),
    GIT_DIR: join(home, 'nothing'),
    GIT_WORK_TREE: home,
    GIT_INDEX_FILE: join(home, 'nothing'),
    GIT_OBJECT_DIRECTORY: join(home, 'nothing'),
    GIT_COMMON_DIR: join(home, 'nothing'),
    GIT_NAMESPACE: 'evil',
    GIT_DEFAULT_HASH: 'sha256',
    GIT_DIFF_OPTS: '--unified=0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ICASE_PATHSPECS: '1',
    GIT_TRACE: marker,
    GIT_TRACE2: marker,
    GIT_TRACE_CURL: marker,
    GIT_ALLOW_PROTOCOL: 'none',
    LC_ALL: 'de_DE.UTF-8',
    LANGUAGE: 'de',
  }
  return { env, marker }
}

onEachEngine('git', (engine) => {
  const service = useService(engine)

  test('runs nothing of what the home and the environment configure, and gives the same results in spite of it', async () => {
    const prepare = (repository: GitRepository) => {
      repository.commit('Start', { 'prompts/p.md': 'Title\n    a\n    b\n    c\n    d\n    e\n    f\n' })
      repository.git('mv', 'prompts/p.md', 'prompts/ö.md')
      repository.commit('Move')
      repository.push()
      repository.commit('Change', { 'prompts/ö.md': 'Title\n    a\n    b\n    c\n    d\n    e\n    g\n' })
    }
    const story = async (scenario: Scenario) => {
      await scenario.push()
      const id = await scenario.promptId('prompts/ö.md')
      const entries = await scenario.historyOf(id)
      const details = await Promise.all(entries.map((entry) => scenario.get(`/prompts/${id}/history/${entry.id}`)))
      return details.map(({ data }) => ({ ...(data as object), id: 0 }))
    }
    const expected = await story(await connected(service, { prepare }))
    assert.equal(expected.length, 3)
    const { env, marker } = hostile()
    const found = await withEnvironment(env, async () => story(await connected(service, { prepare })))
    assert.deepEqual(found, expected)
    assert.ok(!existsSync(marker), existsSync(marker) ? readFileSync(marker, 'utf8') : '')
  })

  test('is never given the token as an argument', async () => {
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const { folder, PATH } = programBefore(
      'git',
      `#!/bin/sh\nprintf '%s\\n' "$*" >> "$(dirname "$0")/log"\nenv > "$(dirname "$0")/env"\nexec ${real} "$@"\n`,
    )
    const { remote } = newRemote({ 'prompts/p.md': 'a\n' })
    const { organisation } = await service.tenant()
    const connect = (url: string) =>
      connectRepository(
        service.follow,
        {
          organisationId: organisation.id,
          forge: 'github',
          url,
          path: 'prompts/**',
          similarity: 100,
          token,
          secret: null,
        },
        operator,
      )
    const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
    await withEnvironment({ PATH }, async () => {
      await assert.rejects(connect('https://127.0.0.1:1/r.git'), { message: /^url cannot be read/ })
      assert.ok(readFileSync(join(folder, 'env'), 'utf8').includes(basic), 'git has to do without the token')
      await syncWithLease(service.follow, (await connect(remote)).lease)
    })
    const log = readFileSync(join(folder, 'log'), 'utf8')
    for (const command of ['ls-remote', 'init', 'fetch', 'log']) assert.match(log, new RegExp(` ${command} `))
    for (const secret of [token, basic]) assert.ok(!log.includes(secret))
  })

  test('keeps every name, author and message apart, whatever bytes they are of', async () => {
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
      // All that comes after a NUL is not part of the message for git either.
      [`told\0${sha}\0\0Eve\0eve@x\0Eve\0eve@x\x000\x000\0forged\0\n${record}\0prompts/p.md\0`, 'told'],
    ]
    const authors: [string, { name: string; email: string }][] = [
      ['Caf\xe9 <caf\xe9@x>', { name: 'Caf\ufffd', email: 'caf\ufffd@x' }],
      ['\x1e\x1fA"\'\\\x01B <a\x01b@x>', { name: 'A"\'\\ B', email: 'a b@x' }],
      [' <>', { name: 'unknown', email: 'unknown' }],
      [`${record} <:100644>`, { name: record, email: ':100644' }],
    ]
    const made: { sha: string; path: string; message: string; user: object }[] = []
    const scenario = await connected(service, {
      prepare(repository) {
        let parent: string | null = null
        for (let i = 0; i < names.length; i++) {
          const [name, path] = names[i] as (typeof names)[0]
          const [message, told] = messages[i % messages.length] as (typeof messages)[0]
          const [author, user] = authors[i % authors.length] as (typeof authors)[0]
          const commit: string = writeCommit(repository, { parent, name, message, author, content: `${i}\n` })
          made.push({ sha: commit, path, message: told, user })
          parent = commit
        }
        repository.inRemote('update-ref', 'refs/heads/main', parent as string)
      },
    })
    assert.deepEqual((await scenario.paths()).sort(), made.map(({ path }) => path).sort())
    for (const [i, { sha, path, message, user }] of made.entries()) {
      const id = await scenario.promptId(path)
      const [entry, ...more] = await scenario.historyOf(id)
      assert.deepEqual(more, [], path)
      const { data } = await scenario.get(`/prompts/${id}/history/${(entry as Entry).id}`)
      const expected = { commit_sha: sha, user, message, path, before: null, after: `${i}\n`, action: 'deployed' }
      assert.partialDeepStrictEqual(data, expected)
    }
  })

  test('that is sent elsewhere says so, and what to do', async () => {
    const said = "fatal: unable to access 'https://git.example/r.git/': The requested URL returned error: 302"
    const { PATH } = programBefore('git', `#!/bin/sh\necho "${said}" >&2\nexit 128\n`)
    const { tenant } = await connected(service)
    const response = await withEnvironment({ PATH }, () =>
      service.app.inject({
        method: 'POST',
        url: '/api/v1/repositories',
        headers: tenant.headers,
        payload: { forge: 'github', url: 'https://git.example/r.git', path: '**' },
      }),
    )
    assert.equal(response.statusCode, 422)
    assert.match(response.json().error.message, /it has moved: use its new address/)
  })

  test('keeps its copies for the user that runs the service alone', async () => {
    await connected(service)
    const folder = join(service.follow.dataDir, 'mirrors')
    const copies = readdirSync(folder)
    assert.ok(copies.length > 0)
    for (const name of copies) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o700, name)
  })

  test('takes links, modules, attributes and names of a hostile repository for the text that they are', async () => {
    const folder = newFolder()
    const [marker, secret] = [join(folder, 'ran'), join(folder, 'secret')]
    writeFileSync(secret, 'PRIVATE')
    const zeros = Buffer.alloc(8 * megabyte)
    const scenario = await connected(service, {
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
        // By name: git would take the other files by these attributes too.
        repository.git('add', '.gitattributes', 'prompts/link.md')
        repository.git('update-index', ...module)
        repository.recorded(['commit', '--quiet', '-m', 'Links'], {})
        repository.push()
        writeAbove(repository, 'prompts', '..', 'above.md')
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
    const files = readdirSync(service.follow.dataDir, { recursive: true }).map(String)
    assert.deepEqual(
      files.filter((file) => /\.md$|gitmodules|hooks/.test(file)),
      [],
      'something was checked out',
    )
  })

  test('reads repositories of SHA-256 from the first commit to the merge', async () => {
    const scenario = await connected(service, { gitOptions: { format: 'sha256' } })
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
      scenario.pushed('main', second),
    )
    const entries = await scenario.history()
    for (const { commit_sha } of entries) assert.match(commit_sha, /^[0-9a-f]{64}$/)
    const told = entries.map(({ action, commit_sha }) => `${action} ${commit_sha}`).sort()
    const expected = [`deployed ${first}`, `deployed ${second}`, `pr_merged ${merge}`, `pr_opened ${head}`]
    assert.deepEqual(told, expected.sort())
    const id = await scenario.promptId('prompts/p.md')
    const merged = entries.find(({ action }) => action === 'pr_merged') as Entry
    const { data } = await scenario.get(`/prompts/${id}/history/${merged.id}`)
    assert.partialDeepStrictEqual(data, { before: 'Be direct.\n', after: 'Be brave.\n' })
  })
})

interface RawCommit {
  parent: string | null
  /** These are bytes, one a character. */
  name: string
  message: string
  author: string
  content: string
}

/** Writes a commit on top of its parent straight into the remote; git's own commands would mend much of what it may hold. */
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

/** Puts a file where no checkout could have it: a folder called `..` on top of the newest commit. */
function writeAbove({ remote }: GitRepository, folder: string, above: string, name: string): void {
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
