import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestEnd } from './cleanup.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { without } from './installed-tools.ts'

const program = '/usr/sbin/sshd'

/** Why tests with keys of ssh are skipped; false if they can run. */
export const noSsh = without('ssh-keygen')

/** Why tests with a real ssh server are skipped; false if they can run. */
export const noSshd = without('ssh-keygen', 'sshd')

export interface SshKeyPair {
  privateKey: string
  /** As `type base64`. */
  publicKey: string
}

/** A key pair as a person would create it. */
export function createSshKey(...options: string[]): SshKeyPair {
  const folder = mkdtempSync(join(tmpdir(), 'promptledger-test-key-'))
  const file = join(folder, 'key')
  try {
    const defaults = options.includes('-N') ? [] : ['-N', '']
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', ...defaults, ...options, '-f', file])
    const [type, key] = readFileSync(`${file}.pub`, 'utf8').split(' ')
    return { privateKey: readFileSync(file, 'utf8'), publicKey: `${type} ${key}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A real ssh server on 127.0.0.1 that gives the holders of authorised keys a shell of the current user. */
export class Sshd {
  port = 0
  hostKey = createSshKey()
  readonly #folder = mkdtempSync(join(tmpdir(), 'promptledger-sshd-'))
  #server: ChildProcess | null = null
  #log = ''

  async start(): Promise<void> {
    onTestEnd(async () => {
      await this.#stop()
      rmSync(this.#folder, { recursive: true, force: true })
    })
    this.port = await freePort()
    this.authorise()
    // Started by root, sshd requires this folder. Debian creates it when the system boots.
    if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true })
    await this.#run()
  }

  /** The URL of a repository on this machine, through this server. */
  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.port}${path}`
  }

  /** Only these public keys get access from now on. */
  authorise(...publicKeys: string[]): void {
    writeFileSync(join(this.#folder, 'authorized_keys'), publicKeys.map((key) => `${key}\n`).join(''))
  }

  /** Restarts on the same port with another host key, as an impostor would. */
  async replaceHostKey(): Promise<void> {
    await this.#stop()
    this.hostKey = createSshKey()
    await this.#run()
  }

  async #run(): Promise<void> {
    const hostKey = join(this.#folder, 'host_key')
    writeFileSync(hostKey, this.hostKey.privateKey, { mode: 0o600 })
    const options = [
      `Port=${this.port}`,
      'ListenAddress=127.0.0.1',
      `HostKey=${hostKey}`,
      `AuthorizedKeysFile=${join(this.#folder, 'authorized_keys')}`,
      'StrictModes=no',
      'UsePAM=no',
      'PasswordAuthentication=no',
      'PermitRootLogin=prohibit-password',
      'PidFile=none',
      // The default key exchange takes ssh 0.2 s of processor time for each connection.
      'KexAlgorithms=curve25519-sha256',
      // A shell within another one reads none of the user's start-up files, which can start dozens of programs.
      'SetEnv=SHLVL=1',
    ]
    const args = ['-D', '-e', '-f', '/dev/null', ...options.flatMap((option) => ['-o', option])]
    const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#server = server
    this.#log = ''
    server.stderr?.on('data', (chunk) => {
      this.#log += chunk
    })
    await eventually(() => {
      if (!this.#log.includes('Server listening')) throw new Error(`sshd did not start: ${this.#log}`)
    })
  }

  async #stop(): Promise<void> {
    const server = this.#server
    if (server === null || server.exitCode !== null) return
    const exited = new Promise((resolve) => server.once('exit', resolve))
    server.kill()
    await exited
  }
}
