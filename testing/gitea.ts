import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestEnd } from './cleanup.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

// Gitea refuses to run as root. On Debian, this is a user without any rights.
const unprivileged = 65_534
const isRoot = userInfo().uid === 0
const identity = isRoot ? { uid: unprivileged, gid: unprivileged } : {}

/** The user that owns the repositories. */
export const owner = 'ada'

export interface Gitea {
  url: string
  version: string
  token: string
  /** Sends a request to the API as the owner, or as another user. Any status of 400 or above is an error. */
  api<T = unknown>(method: string, path: string, body?: object, token?: string): Promise<T>
  /** Creates another user, and returns a token of theirs. */
  createUser(name: string): Promise<string>
  /** A URL for `git push`. */
  pushUrl(path: string, token?: string): string
}

/** Where the Gitea to test with is. Fails with instructions if the environment does not say. */
function binary(): string {
  const path = process.env.GITEA_BINARY ?? ''
  const help = 'See "A real forge" in CONTRIBUTING.md for how to get one.'
  assert.ok(path !== '', `GITEA_BINARY must be the path of a Gitea binary. ${help}`)
  assert.ok(existsSync(path), `GITEA_BINARY names ${path}, which does not exist. ${help}`)
  return resolve(path)
}

/** Starts a Gitea of its own on 127.0.0.1, with a new database, and stops it with the test. */
export async function startGitea(): Promise<Gitea> {
  const program = binary()
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-gitea-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const configuration = join(folder, 'app.ini')
  writeFileSync(configuration, settings(folder, port, dirname(program)))
  for (const path of [folder, configuration]) if (isRoot) chownSync(path, unprivileged, unprivileged)
  const { PATH } = process.env
  const env = { PATH, HOME: folder, USER: userName(), GITEA_WORK_DIR: folder }
  const run = (...args: string[]) =>
    execFileSync(program, [...args, '--config', configuration], { env, cwd: folder, stdio: 'pipe', ...identity })
  const createAccount = (name: string, ...flags: string[]) => {
    const password = randomBytes(16).toString('hex')
    const email = `${name}@example.com`
    const fields = ['--username', name, '--password', password, '--email', email, '--must-change-password=false']
    run('admin', 'user', 'create', ...fields, ...flags)
    return password
  }
  run('migrate')
  const password = createAccount(owner, '--admin')
  const server = spawn(program, ['web', '--config', configuration], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  })
  let output = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  const exited = once(server, 'exit')
  process.once('exit', () => server.kill('SIGKILL'))
  onTestEnd(async () => {
    server.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })

  async function send<T>(method: string, path: string, authorization: string, body?: object): Promise<T> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }
  const createToken = async (name: string, secret: string) => {
    const basic = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`
    const created = await send<{ sha1: string }>('POST', `/users/${name}/tokens`, basic, {
      name: 'test',
      // From version 1.20 on.
      scopes: ['all'],
    })
    return created.sha1
  }
  const stopped = exited.then(() => assert.fail(`Gitea stopped: ${output}`))
  const started = eventually(() => send<{ version: string }>('GET', '/version', ''))
  const { version } = await Promise.race([started, stopped])
  stopped.catch(() => {})
  const token = await createToken(owner, password)
  return {
    url,
    version,
    token,
    api: (method, path, body, as = token) => send(method, path, `token ${as}`, body),
    createUser: (name) => createToken(name, createAccount(name)),
    pushUrl: (path, as = token) => `http://${as}:x-oauth-basic@127.0.0.1:${port}/${path}.git`,
  }
}

function userName(): string {
  return isRoot
    ? execFileSync('id', ['-nu', String(unprivileged)])
        .toString()
        .trim()
    : userInfo().username
}

function settings(folder: string, port: number, staticRoot: string): string {
  return `RUN_USER = ${userName()}
RUN_MODE = prod
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
DISABLE_SSH = true
OFFLINE_MODE = true
APP_DATA_PATH = ${join(folder, 'data')}
; For a binary without embedded templates.
STATIC_ROOT_PATH = ${staticRoot}
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}
[repository]
ROOT = ${join(folder, 'repositories')}
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = ${randomBytes(32).toString('hex')}
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[indexer]
ISSUE_INDEXER_TYPE = db
[session]
PROVIDER = memory
[log]
MODE = console
LEVEL = warn
ROOT_PATH = ${join(folder, 'log')}
`
}
