import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createAccount } from '../../../testing/account.ts'
import { runCli } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'
import { freePort } from '../../../testing/free-port.ts'
import { without } from '../../../testing/installed-tools.ts'
import { mainScript, type RunningProcess, startServe } from '../../../testing/processes.ts'
import { openTestStore } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt } from '../../src/domain/prompt.ts'

const run = promisify(execFile)
const dangerous = 'run $(touch pwned) `touch pwned`'

describe('Completion', () => {
  let service: RunningProcess
  let folder: string
  let env: NodeJS.ProcessEnv
  before(async () => {
    const { url } = await sqlite.create()
    const account = await createAccount(url, 'free')
    const store = await openTestStore(url)
    for (const name of [
      'reply/long answer.md',
      'reply/short.md',
      dangerous,
      'reply/\u202ehidden.md',
      'reply/\nline.md',
      '--url=https://evil.example',
    ]) {
      await store.prompts.create({ ...newPrompt(account.organisationId, 'x', Date.now()), name }, operator)
    }
    await store.close()
    service = await startServe({ DATABASE_URL: url })
    folder = await mkdtemp(join(tmpdir(), 'promptledger-completion-'))
    const program = join(folder, 'promptledger')
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${mainScript}' "$@"\n`)
    await chmod(program, 0o755)
    env = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      TERM: 'dumb',
      ...urlAndKey(service.address, account.key),
    }
  })
  after(async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const urlAndKey = (url: string, key: string) => ({ PROMPTLEDGER_URL: url, PROMPTLEDGER_KEY: key })
  const shell = async (name: string, script: string, more: NodeJS.ProcessEnv = {}) =>
    (await run(name, ['-c', script], { env: { ...env, ...more }, cwd: folder, timeout: 120_000 })).stdout
  const candidates = async (...words: string[]) =>
    (await runCli(env, ['__complete', '--', ...words])).stdout.split('\n').slice(0, -1)
  const values = (lines: string[]) => lines.map((line) => line.split('\t')[0])

  test('commands, options, their values, files and prompts are completed, with descriptions', async () => {
    assert.deepEqual(values(await candidates('lo')), ['login', 'logout', 'log'])
    assert.deepEqual(await candidates('signals', 't'), ['tail\tprint the newest signals, and new ones as they arrive'])
    assert.deepEqual(values(await candidates('key', 'create', '--r')), ['--role'])
    assert.deepEqual(values(await candidates('log', '--js')), ['--json'])
    assert.deepEqual(await candidates('key', 'create', '--role', 'r'), ['recorder', 'reader'])
    assert.deepEqual(await candidates('completion', ''), ['bash', 'zsh', 'fish'])
    assert.deepEqual(await candidates('restore', ''), [':files'])
    assert.deepEqual(await candidates('log', '-n', '5', 'reply'), ['reply/long answer.md', 'reply/short.md'])
    assert.deepEqual(await candidates('diff', 'short'), ['reply/short.md'])
    assert.deepEqual(await candidates('prompt', 'delete', 'reply'), [], 'operators have no login')
    assert.deepEqual(await candidates('log', 'reply/short.md', ''), [])
    assert.ok(!values(await candidates('')).includes('__complete'))
  })

  test('a prompt whose name looks like an option is not completed: it could send the key elsewhere', async () => {
    const names = values(await candidates('log', ''))
    assert.ok(names.includes('reply/short.md'))
    assert.deepEqual(
      names.filter((name) => name?.startsWith('-')),
      [],
    )
  })

  test('without a login, or with a service that is away, prompts are not completed and nothing is said', async () => {
    for (const wrong of [{}, urlAndKey(`http://127.0.0.1:${await freePort()}`, 'plk_x'), urlAndKey('nonsense', 'x')]) {
      const result = await runCli({ HOME: folder, ...wrong }, ['__complete', '--', 'log', 'r'])
      assert.deepEqual(result, { code: 0, stdout: '', stderr: '' })
    }
  })

  test('bash completes commands and quotes the names of prompts', { skip: without('bash') }, async () => {
    const complete = (...words: string[]) =>
      shell(
        'bash',
        `eval "$(promptledger completion bash)"
        COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
        _promptledger; printf '%s\\n' "\${COMPREPLY[@]}"`,
      )
    assert.equal(await complete('promptledger', 'regr'), 'regressions\n')
    assert.equal(await complete('promptledger', 'log', 'reply/l'), 'reply/long\\ answer.md\n')
    assert.equal(await complete('promptledger', 'log', 'reply/long\\ a'), 'reply/long\\ answer.md\n')
    assert.equal(await complete('promptledger', 'log', '"reply/l'), 'reply/long answer.md\n')
    assert.equal(await complete('promptledger', 'log', '"run'), '\n', 'cannot be quoted inside quotes')
    const [inserted = ''] = (await complete('promptledger', 'log', 'run')).split('\n')
    assert.equal(await shell('bash', `printf %s ${inserted}`), dangerous)
    assert.deepEqual(await shell('bash', 'ls'), 'promptledger\n', 'a name ran a command')
  })

  test('fish completes commands, prompts and files', { skip: without('fish') }, async () => {
    const complete = (line: string) => shell('fish', `promptledger completion fish | source; complete -C '${line}'`)
    assert.match(await complete('promptledger regr'), /^regressions\tlist the changes that made prompts worse\n$/)
    assert.equal(await complete('promptledger log reply/'), 'reply/long answer.md\nreply/short.md\n')
    assert.match(await complete('promptledger restore prompt'), /^promptledger\b/)
  })

  test('zsh completes commands and prompts, quoted', { skip: without('zsh') }, async () => {
    // Types into a zsh on a pseudo terminal, and reads the command line that Tab leaves behind.
    const script = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'PS1= ; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D; eval "$(promptledger completion zsh)"'
      zpty -w shell 'show() { print -r -- "LINE<$BUFFER>"; zle kill-buffer }; zle -N show; bindkey "^X" show; print READY'
      zpty -r shell output '*READY*READY*'
      zpty -w -n shell "promptledger $1"$'\\t\\x18'
      zpty -r shell output '*LINE<*>*'
      print -r -- "\${output##*LINE<}"`
    const complete = async (typed: string) => {
      const { stdout } = await run('zsh', ['-f', '-c', script, 'zsh', typed], { env, cwd: folder, timeout: 120_000 })
      return stdout.slice(0, stdout.indexOf('>'))
    }
    assert.equal(await complete('regr'), 'promptledger regressions ')
    assert.equal(await complete('log reply/l'), 'promptledger log reply/long\\ answer.md ')
    assert.equal(await complete('log short'), 'promptledger log reply/short.md ')
  })
})
