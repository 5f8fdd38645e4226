import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freePort } from '../../../testing/free-port.ts'
import { createSshKey, noSsh, noSshd, Sshd } from '../../../testing/sshd.ts'
import { failureOf, reasonOf } from '../../src/git/failure.ts'
import { readRemoteHead } from '../../src/git/remote.ts'
import type { Remote } from '../../src/git/remote-access.ts'
import { createRemote, remoteAt } from './git-environment.ts'

const noAccess = `fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.`

// What OpenSSH 9.2, git 2.39 and curl 7.88 print.
const outputs = {
  hostKeyChanged: [
    `@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@\nHost key verification failed.\n${noAccess}`,
    `No RSA host key is known for repository and you have requested strict checking.\nHost key verification failed.\n${noAccess}`,
  ],
  hostKeyUnknown: [
    `No ED25519 host key is known for git.example and you have requested strict checking.\nHost key verification failed.\n${noAccess}`,
  ],
  permission: [`git@git.example: Permission denied (publickey).\n${noAccess}`],
  unknownHost: [
    `ssh: Could not resolve hostname git.example: Name or service not known\n${noAccess}`,
    "fatal: unable to access 'https://git.example/r/': Could not resolve host: git.example",
  ],
  refused: [`ssh: connect to host git.example port 22: Connection refused\n${noAccess}`],
  unreachable: [
    `ssh: connect to host git.example port 22: No route to host\n${noAccess}`,
    `ssh: connect to host git.example port 22: Network is unreachable\n${noAccess}`,
    `ssh: connect to host git.example port 22: Connection timed out\n${noAccess}`,
  ],
  redirect: ["fatal: unable to access 'https://git.example/r/': The requested URL returned error: 302"],
  connection: [
    "fatal: unable to access 'https://git.example/r/': Failed to connect to git.example port 443 after 1 ms: Couldn't connect to server",
    `kex_exchange_identification: Connection closed by remote host\n${noAccess}`,
    "fatal: unable to access 'https://git.example/r/': The requested URL returned error: 503",
  ],
  access: [
    noAccess,
    "fatal: repository 'https://git.example/redirects/r/' not found",
    "fatal: could not read Username for 'https://git.example': terminal prompts disabled",
    "remote: Connection refused, Permission denied (publickey)\nfatal: Authentication failed for 'https://git.example/r/'",
  ],
} as const

describe('Why git failed', () => {
  test('what git and ssh print leads to one of a few fixed reasons, whatever lines the server adds', () => {
    for (const [failure, texts] of Object.entries(outputs)) {
      for (const text of texts) assert.equal(failureOf(text), failure, text)
    }
  })

  test('a real ssh server leads to the reason for a changed host key, a rejected key, a closed port and an unknown name', {
    skip: noSshd,
  }, async () => {
    const [sshd, key, other] = [new Sshd(), createSshKey(), createSshKey()]
    await sshd.start()
    sshd.authorise(key.publicKey)
    const git = createRemote({ 'p.md': 'x\n' })
    const url = sshd.url(git.remote)
    const remote = (changes: Partial<Remote>): Remote => ({
      ...remoteAt(url),
      deployKey: { privateKey: key.privateKey, hostKey: sshd.hostKey.publicKey },
      ...changes,
    })
    assert.equal((await readRemoteHead(remote({}))).branch, 'main')
    const closed = url.replace(`:${sshd.port}`, `:${await freePort()}`)
    const failing: [Partial<Remote>, Parameters<typeof reasonOf>[0]][] = [
      [{ deployKey: { privateKey: key.privateKey, hostKey: other.publicKey } }, 'hostKeyChanged'],
      [{ deployKey: { privateKey: other.privateKey, hostKey: sshd.hostKey.publicKey } }, 'permission'],
      [{ deployKey: null }, 'hostKeyUnknown'],
      [{ url: sshd.url('/nowhere/at/all') }, 'access'],
      [{ url: closed }, 'refused'],
      [{ url: 'git@no-such-host.invalid:r.git' }, 'unknownHost'],
    ]
    for (const [changes, failure] of failing) {
      const error = { name: 'GitError', failure, reason: reasonOf(failure) }
      await assert.rejects(readRemoteHead(remote(changes)), error, failure)
    }
    await sshd.replaceHostKey()
    await assert.rejects(
      readRemoteHead(remote({ deployKey: { privateKey: key.privateKey, hostKey: other.publicKey } })),
      {
        failure: 'hostKeyChanged',
      },
    )
  })

  test('a closed port and an unknown name have the same reason for admins who may connect private addresses', {
    skip: noSsh,
  }, async () => {
    const port = await freePort()
    const privateKey = createSshKey().privateKey
    for (const url of [`ssh://git@127.0.0.1:${port}/r`, 'ssh://git@no-such-host.invalid/r']) {
      const remote = { ...remoteAt(url), deployKey: { privateKey, hostKey: null }, hidesNetwork: true }
      await assert.rejects(readRemoteHead(remote), { failure: 'connection', reason: reasonOf('connection') })
    }
  })
})
