import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An ssh key of one repository. */
export interface DeployKey {
  /** In OpenSSH's format, without a passphrase. */
  privateKey: string
  /** The only accepted key of the server, as `type base64`. Null to accept any, in order to record it. */
  hostKey: string | null
}

const connection = ['BatchMode=yes', 'ConnectTimeout=10', 'ServerAliveInterval=15', 'ServerAliveCountMax=4']
// Only the deploy key counts: no agent, no other keys, no configuration and no known hosts of the machine.
const isolation = [
  'IdentitiesOnly=yes',
  'IdentityAgent=none',
  'PreferredAuthentications=publickey',
  'GlobalKnownHostsFile=/dev/null',
  'UpdateHostKeys=no',
  'HashKnownHosts=no',
  'CheckHostIP=no',
]
const hostKeyAlias = 'repository'

/** The command for the machine's own keys, configuration and known hosts. `server` pins the server's address. */
export function machineSshCommand(server?: { host: string; port: string; address: string }): string {
  if (server === undefined) return sshCommand(connection)
  const { host, port, address } = server
  // Known hosts are listed by name, not by address.
  const alias = port === '' || port === '22' ? host : `[${host}]:${port}`
  return sshCommand([...connection, ...pinned(address), `HostKeyAlias=${alias}`])
}

export interface SshFiles {
  command: string
  /** The key of the server that ssh accepted, once it has connected. */
  readHostKey: () => Promise<string | null>
}

/** Writes the deploy key to a private folder for as long as `run` takes. */
export async function withDeployKey<T>(
  { privateKey, hostKey }: DeployKey,
  address: string | null,
  run: (files: SshFiles) => Promise<T>,
): Promise<T> {
  await removeAbandonedFolders()
  // Only its owner can read a folder made by mkdtemp.
  const folder = await mkdtemp(join(tmpdir(), folderPrefix))
  folders.add(folder)
  const [keyFile, knownHosts] = [join(folder, 'key'), join(folder, 'known_hosts')]
  try {
    await writeFile(keyFile, privateKey, { mode: 0o600, flag: 'wx' })
    await writeFile(knownHosts, hostKey === null ? '' : `${hostKeyAlias} ${hostKey}\n`, { mode: 0o600, flag: 'wx' })
    const options = [
      ...connection,
      ...isolation,
      ...pinned(address),
      `HostKeyAlias=${hostKeyAlias}`,
      `StrictHostKeyChecking=${hostKey === null ? 'accept-new' : 'yes'}`,
      `IdentityFile="${keyFile}"`,
      `UserKnownHostsFile="${knownHosts}"`,
    ]
    return await run({ command: sshCommand(options, '-F', '/dev/null'), readHostKey: () => readHostKey(knownHosts) })
  } finally {
    folders.delete(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

function pinned(address: string | null): string[] {
  return address === null ? [] : [`HostName=${address}`]
}

/** git passes the command to a shell, so every word is quoted. */
function sshCommand(options: string[], ...words: string[]): string {
  const quoted = [...words, ...options.map((option) => `-o${option}`)].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  )
  return ['ssh', ...quoted].join(' ')
}

async function readHostKey(knownHosts: string): Promise<string | null> {
  const [, type, key] = /^\S+ (\S+) (\S+)/m.exec(await readFile(knownHosts, 'utf8')) ?? []
  return type === undefined ? null : `${type} ${key}`
}

const folderPrefix = 'promptledger-ssh-'
// Longer than any fetch.
const abandonedAfterMs = 2 * 3_600_000

const folders = new Set<string>()
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Removes keys that a killed process left behind. */
async function removeAbandonedFolders(): Promise<void> {
  const found = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix))
  for (const folder of found.map((name) => join(tmpdir(), name))) {
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }))
    // Folders of other users cannot be removed, and need not be.
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}
