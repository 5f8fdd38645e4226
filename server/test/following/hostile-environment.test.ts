import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { createFolder, createProgram, createRemote, token, withEnvironment } from './git-environment.ts'

/** A home directory and an environment with every setting that could make git run a program or change its output. */
function hostileEnvironment(): { env: Record<string, string>; marker: string } {
  const home = createFolder()
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

onOneEngine('git in a hostile environment', (engine) => {
  const service = useService(engine)

  test('git runs no program from the home directory or the environment, and its results do not depend on them', async () => {
    const prepare = (repository: GitRepository) => {
      repository.commit('Start', { 'prompts/p.md': 'Title\n    a\n    b\n    c\n    d\n    e\n    f\n' })
      repository.git('mv', 'prompts/p.md', 'prompts/ö.md')
      repository.commit('Move')
      repository.push()
      repository.commit('Change', { 'prompts/ö.md': 'Title\n    a\n    b\n    c\n    d\n    e\n    g\n' })
    }
    const readHistory = async (scenario: Scenario) => {
      await scenario.push()
      const id = await scenario.promptId('prompts/ö.md')
      const entries = await scenario.historyOf(id)
      const details = await Promise.all(entries.map((entry) => scenario.get(`/prompts/${id}/history/${entry.id}`)))
      return details.map(({ data }) => ({ ...(data as object), id: 0 }))
    }
    const expected = await readHistory(await connectedScenario(service, { prepare }))
    assert.equal(expected.length, 3)
    const { env, marker } = hostileEnvironment()
    const actual = await withEnvironment(env, async () => readHistory(await connectedScenario(service, { prepare })))
    assert.deepEqual(actual, expected)
    assert.ok(!existsSync(marker), existsSync(marker) ? readFileSync(marker, 'utf8') : '')
  })

  test('git never gets the token as an argument', async () => {
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const { folder, PATH } = createProgram(
      'git',
      `#!/bin/sh\nprintf '%s\\n' "$*" >> "$(dirname "$0")/log"\nenv > "$(dirname "$0")/env"\nexec ${real} "$@"\n`,
    )
    const { remote } = createRemote({ 'prompts/p.md': 'a\n' })
    const { organisation } = await service.tenant()
    const connect = (url: string) =>
      connectRepository(
        service.syncContext,
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
      assert.ok(readFileSync(join(folder, 'env'), 'utf8').includes(basic), 'git did not get the token at all')
      await syncWithLease(service.syncContext, (await connect(remote)).lease)
    })
    const log = readFileSync(join(folder, 'log'), 'utf8')
    for (const command of ['ls-remote', 'fetch', 'log']) assert.match(log, new RegExp(` ${command} `))
    for (const secret of [token, basic]) assert.ok(!log.includes(secret))
  })
})
