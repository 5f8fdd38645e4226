import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmdirSync, utimesSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { connectedSchema } from '../../../contract/repositories.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { useService } from '../../../testing/service.ts'
import { createSshKey, noSsh, noSshd, Sshd } from '../../../testing/sshd.ts'
import { generateSshKey, sshFingerprint, validHostKey, validSshKey } from '../../src/domain/repositories/ssh-key.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { withDeployKey } from '../../src/git/ssh.ts'
import { createRemote, repositoryClient } from '../http/repository-client.ts'
import { createFolder, createProgram, withEnvironment } from './git-environment.ts'

/** Runs the work with an empty folder for temporary files, and checks that it is empty afterwards. */
async function leavingNoFiles(work: () => Promise<void>): Promise<void> {
  const TMPDIR = createFolder()
  await withEnvironment({ TMPDIR }, work)
  assert.deepEqual(readdirSync(TMPDIR), [])
}

describe('ssh keys', () => {
  test('a generated key is one that ssh reads, with its public half', { skip: noSsh }, async () => {
    const { privateKey, publicKey } = generateSshKey()
    const file = join(createFolder(), 'key')
    await writeFile(file, privateKey, { mode: 0o600 })
    const read = execFileSync('ssh-keygen', ['-y', '-f', file]).toString()
    assert.ok(read.startsWith(publicKey), read)
    await writeFile(`${file}.pub`, `${publicKey}\n`)
    const shown = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`]).toString()
    assert.ok(shown.includes(sshFingerprint(publicKey)), shown)
    assert.deepEqual(validSshKey(privateKey), { privateKey, publicKey })
    assert.notEqual(generateSshKey().publicKey, publicKey)
  })

  test("a private key in OpenSSH's format is accepted, whatever its type and line breaks", { skip: noSsh }, () => {
    for (const options of [[], ['-t', 'ecdsa'], ['-t', 'rsa', '-b', '2048']]) {
      const { privateKey, publicKey } = createSshKey(...options)
      assert.deepEqual(validSshKey(privateKey), { privateKey, publicKey })
      assert.deepEqual(validSshKey(` ${privateKey}`.trim().replaceAll('\n', '\r\n')), { privateKey, publicKey })
    }
  })

  test('a key with a passphrase, in another format or damaged is rejected', { skip: noSsh }, () => {
    const invalid = { name: 'DomainError', message: /^sshKey must be a private key in OpenSSH's format/ }
    assert.throws(
      () => validSshKey(createSshKey('-N', 'secret').privateKey),
      /^DomainError: sshKey must not have a passphrase/,
    )
    const { privateKey, publicKey } = createSshKey()
    const pem = createSshKey('-t', 'ecdsa', '-m', 'PEM').privateKey
    const oversized = privateKey.replace('\n', `\n${'A'.repeat(20_000)}\n`)
    const truncated = `${privateKey.slice(0, 60)}\n-----END OPENSSH PRIVATE KEY-----\n`
    for (const text of ['', 'x', publicKey, pem, oversized, truncated, `${privateKey}${privateKey}`]) {
      assert.throws(() => validSshKey(text), invalid, text)
    }
  })

  test('a host key is accepted only as a type and the key of that type', { skip: noSsh }, () => {
    const { publicKey } = createSshKey()
    assert.equal(validHostKey(`${publicKey} root@host`), publicKey)
    const [type, key] = publicKey.split(' ')
    for (const text of [
      '',
      `git.example ${publicKey}`,
      `ssh-rsa ${key}`,
      `${type} AAAA`,
      `${type}\n${key}`,
      `* ${publicKey}`,
    ]) {
      assert.throws(() => validHostKey(text), /^DomainError: sshHostKey must be a public key/, text)
    }
  })

  test('the key file of a deploy key is readable only by its owner and removed afterwards', async () => {
    const key = { privateKey: generateSshKey().privateKey, hostKey: null }
    await leavingNoFiles(async () => {
      const run = withDeployKey(key, null, async ({ command }) => {
        const [, file] = /IdentityFile="([^"]+)"/.exec(command) ?? []
        assert.ok(file !== undefined && existsSync(file))
        const modes = execFileSync('stat', ['-c', '%a', file, join(file, '..')]).toString()
        assert.equal(modes, '600\n700\n')
        throw new Error('failed')
      })
      await assert.rejects(run, { message: 'failed' })
    })
  })

  test('a key that a killed process left behind is removed by the next use of a deploy key', async () => {
    await leavingNoFiles(async () => {
      const prefix = join(tmpdir(), 'promptledger-ssh-')
      const [abandoned, inUse] = await Promise.all([mkdtemp(prefix), mkdtemp(prefix)])
      const hoursAgo = Date.now() / 1_000 - 3 * 3_600
      utimesSync(abandoned, hoursAgo, hoursAgo)
      await withDeployKey({ privateKey: 'x', hostKey: null }, null, async () => {})
      assert.deepEqual([existsSync(abandoned), existsSync(inUse)], [false, true])
      rmdirSync(inUse)
    })
  })
})

onOneEngine('Deploy keys', (engine) => {
  const service = useService(engine)
  const { admin, request, synced } = repositoryClient(service)
  let git: GitRepository
  let sshd: Sshd
  const body = (more: object) => ({ forge: 'github', url: sshd.url(git.remote), path: 'prompts/**', ...more })
  before(async () => {
    service.syncContext.allowPrivateAddresses = true
    git = createRemote()
    if (noSshd) return
    sshd = new Sshd()
    await sshd.start()
  })

  test('a repository is fetched with its deploy key, whose private half is never returned or stored in plain text', {
    skip: noSshd,
  }, async () => {
    const [tenant, key] = [await admin(), createSshKey()]
    sshd.authorise(key.publicKey)
    const TMPDIR = createFolder()
    const response = await withEnvironment({ TMPDIR }, async () => {
      const response = await request(tenant, 'POST', '', body({ ssh_key: key.privateKey }))
      assert.equal(response.statusCode, 201, response.body)
      await synced(response.json().data.id)
      return response
    })
    assert.deepEqual(readdirSync(TMPDIR), [])
    assertMatchesSchema(connectedSchema, response)
    const { id, ssh_public_key, ssh_host_key } = response.json().data
    const { state, entry_count } = (await request(tenant, 'GET', `/${id}`)).json().data
    assert.deepEqual([state, entry_count, ssh_public_key], ['following', 3, key.publicKey])
    assert.equal(ssh_host_key, sshd.hostKey.publicKey)
    git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n' })
    git.push()
    await request(tenant, 'POST', `/${id}/sync`)
    await syncOnce(service.syncContext, id)
    const shown = await request(tenant, 'GET', `/${id}`)
    assert.equal(shown.json().data.entry_count, 4)
    const { sealedSshKey } = (await service.store.repositories.find(id)) ?? {}
    const secret = key.privateKey.split('\n')[3] as string
    for (const text of [response.body, shown.body, sealedSshKey as string, service.log.join('')]) {
      assert.ok(!text.includes(secret))
    }
    await request(tenant, 'DELETE', `/${id}`)
    assert.equal((await service.store.repositories.find(id))?.sealedSshKey, null, 'the key outlives the connection')
  })

  test('a generated key works as soon as its public half is added on the forge', { skip: noSshd }, async () => {
    const tenant = await admin()
    sshd.authorise()
    const response = await request(tenant, 'POST', '', body({ generate_ssh_key: true }))
    assert.equal(response.statusCode, 201, response.body)
    const { id, ssh_public_key, ssh_host_key, prompts } = response.json().data
    assert.deepEqual([prompts, ssh_host_key], [[], sshd.hostKey.publicKey])
    assert.match(
      (await synced(id)).lastError ?? '',
      /^git ls-remote: the server rejected the ssh key\. Add its public half to the repository on the forge/,
    )
    assert.ok(!response.body.includes('PRIVATE KEY'))
    sshd.authorise(ssh_public_key)
    await request(tenant, 'POST', `/${id}/sync`)
    await syncOnce(service.syncContext, id)
    const { data } = (await request(tenant, 'GET', `/${id}`)).json()
    assert.deepEqual([data.state, data.prompt_count], ['following', 2])
  })

  test('a server with another host key than the recorded one is rejected', { skip: noSshd }, async () => {
    const [tenant, key] = [await admin(), createSshKey()]
    sshd.authorise(key.publicKey)
    const wrong = body({ ssh_key: key.privateKey, ssh_host_key: createSshKey().publicKey })
    const differs = /^url cannot be read: the ssh host key of the server differs from the recorded one/
    assertError(await request(tenant, 'POST', '', wrong), 422, 'validation_error', differs)
    const right = body({ ssh_key: key.privateKey, ssh_host_key: `${sshd.hostKey.publicKey} comment` })
    const { id } = (await request(tenant, 'POST', '', right)).json().data
    await synced(id)
    await sshd.replaceHostKey()
    await request(tenant, 'POST', `/${id}/sync`)
    await assert.rejects(
      syncOnce(service.syncContext, id),
      /the ssh host key of the server differs from the recorded one\. If the server has a new key, record it with/,
    )
  })

  test("the machine's ssh agent and keys are not used for a repository with a deploy key, or without one", {
    skip: noSshd,
  }, async () => {
    const [tenant, key] = [await admin(), createSshKey()]
    sshd.authorise(key.publicKey)
    const SSH_AUTH_SOCK = await startAgent(key.privateKey)
    await withEnvironment({ SSH_AUTH_SOCK }, async () => {
      const withOther = await request(tenant, 'POST', '', body({ ssh_key: createSshKey().privateKey }))
      assertError(withOther, 422, 'validation_error', /^url cannot be read: the server rejected the ssh key/)
      const missing = /^ssh_key is missing: a repository fetched over ssh needs a deploy key/
      assertError(await request(tenant, 'POST', '', body({})), 422, 'validation_error', missing)
      const withRight = await request(tenant, 'POST', '', body({ ssh_key: key.privateKey }))
      assert.equal(withRight.statusCode, 201)
      // Its ssh must not run in the environment of the next test.
      await synced(withRight.json().data.id)
    })
  })

  test("the machine's keys are used without a deploy key if the settings allow it, until they no longer do", async () => {
    const tenant = await admin()
    const { folder, PATH } = createProgram(
      'ssh',
      '#!/bin/sh\necho "$*" >> "$(dirname "$0")/log"\nfor last; do :; done\nexec sh -c "$last"\n',
    )
    service.syncContext.allowMachineSshKeys = true
    onTestEnd(() => {
      service.syncContext.allowMachineSshKeys = false
    })
    await withEnvironment({ PATH }, async () => {
      const url = `git@git.example:${git.remote}`
      const response = await request(tenant, 'POST', '', { forge: 'github', url, path: 'prompts/**' })
      assert.equal(response.statusCode, 201, response.body)
      const { id, ssh_public_key, ssh_host_key } = response.json().data
      await synced(id)
      assert.deepEqual([ssh_public_key, ssh_host_key], [null, null])
      assert.doesNotMatch(readFileSync(join(folder, 'log'), 'utf8'), /IdentityFile|IdentityAgent| -F/)
      service.syncContext.allowMachineSshKeys = false
      await request(tenant, 'POST', `/${id}/sync`)
      await assert.rejects(syncOnce(service.syncContext, id), /needs a deploy key/)
    })
  })

  test('invalid combinations of ssh settings are rejected with the name of the field', { skip: noSsh }, async () => {
    const tenant = await admin()
    const { privateKey, publicKey } = createSshKey()
    const url = 'git@git.example:acme/prompts.git'
    const invalid: [object, RegExp][] = [
      [{ url, ssh_key: privateKey, generate_ssh_key: true }, /^Pass either ssh_key or generate_ssh_key, not both/],
      [{ url, ssh_host_key: publicKey }, /^ssh_host_key needs ssh_key or generate_ssh_key/],
      [{ url, ssh_key: 'x' }, /^ssh_key must be a private key in OpenSSH's format/],
      [{ url, ssh_key: privateKey, ssh_host_key: 'x' }, /^ssh_host_key must be a public key/],
      [{ url: 'https://git.example/r.git', ssh_key: privateKey }, /^ssh_key needs a URL of the form ssh:/],
      [{ url, generate_ssh_key: 'yes' }, /^generate_ssh_key must be/],
      [{ url, ssh_key: 5 }, /^ssh_key must be a string or null/],
    ]
    for (const [more, message] of invalid) {
      const response = await request(tenant, 'POST', '', { forge: 'github', path: '**', ...more })
      assertError(response, 422, 'validation_error', message)
    }
  })
})

/** Starts an ssh agent that holds the key, and returns its socket. */
async function startAgent(privateKey: string): Promise<string> {
  const socket = join(createFolder(), 'agent')
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestEnd(() => agent.kill())
  await once(agent.stdout, 'data')
  execFileSync('ssh-add', ['-q', '-'], { input: privateKey, env: { ...process.env, SSH_AUTH_SOCK: socket } })
  return socket
}
