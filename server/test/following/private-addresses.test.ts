import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { without } from '../../../testing/installed-tools.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { generateSshKey } from '../../src/domain/repositories/ssh-key.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { readRemoteHead } from '../../src/git/remote.ts'
import { remoteEnvironment } from '../../src/git/remote-access.ts'
import { git } from '../../src/git/run.ts'
import { machineSshCommand, withDeployKey } from '../../src/git/ssh.ts'
import { isPublicAddress, publicAddresses } from '../../src/net/address.ts'
import { repositoryClient } from '../http/repository-client.ts'
import { createProgram, createRemote, remoteAt, withEnvironment } from './git-environment.ts'

const privateAddresses = [
  ...['0.0.0.0', '10.0.0.5', '127.0.0.1', '127.255.255.254', '100.64.0.1', '100.100.100.200', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.168.1.1', '192.0.0.192', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  ...['::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b::7f00:1', '64:ff9b::1'],
  ...['64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:db8::1', 'git.example', ''],
]
const publicOnes = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '140.82.121.3', '2606:50c0:8000::153', '64:ff9b::808:808']

/** A server that records whether git or ssh reached it. */
async function listen(host = '127.0.0.1') {
  const received: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      received.push(data.toString('latin1'))
      socket.destroy()
    })
  }).listen(0, host)
  await once(server, 'listening')
  onTestEnd(() => server.close())
  return { received, port: (server.address() as AddressInfo).port }
}

// Logs its arguments, then runs the command here, as the server would. With a file `answer`, the server only prints that.
const forwardingSsh = `#!/bin/sh
folder=$(dirname "$0")
echo "$*" >> "$folder/log"
if [ -e "$folder/answer" ]; then cat "$folder/answer" >&2; exit 1; fi
for last; do :; done
exec sh -c "$last"
`

describe('Public and private addresses', () => {
  test('loopback, private, link-local, shared, mapped and metadata addresses are not public', () => {
    assert.deepEqual(privateAddresses.filter(isPublicAddress), [])
    assert.deepEqual(publicOnes.filter(isPublicAddress), publicOnes)
  })

  test('a host is accepted only if all of its addresses are public', async () => {
    const resolved = (...addresses: string[]) => publicAddresses('git.example', async () => addresses)
    assert.deepEqual(await resolved('8.8.8.8', '2606:50c0:8000::153'), ['8.8.8.8', '2606:50c0:8000::153'])
    assert.equal(await resolved('8.8.8.8', '10.0.0.1'), null)
    assert.equal(await resolved(), null)
    assert.equal(await publicAddresses('git.example', () => Promise.reject(new Error('ENOTFOUND'))), null)
    assert.equal(await publicAddresses('localhost'), null)
  })
})

describe('Pinned addresses', () => {
  test('git over https connects to the checked address and does not resolve the host again', async () => {
    // The name resolves to 127.0.0.1, where nothing listens on this port.
    const { received, port } = await listen('127.0.0.2')
    const url = `https://localhost:${port}/r.git`
    const env = remoteEnvironment(remoteAt(url), `localhost:${port}:127.0.0.2`)
    await assert.rejects(git(['ls-remote', url], { env }), { name: 'GitError' })
    assert.ok(received[0]?.includes('localhost'), 'git did not connect to the pinned address')
  })

  test('ssh connects to the checked address and does not resolve the host again', {
    skip: without('ssh'),
  }, async () => {
    const { received, port } = await listen('127.0.0.2')
    const args = ['ls-remote', `ssh://git@localhost:${port}/r.git`]
    const server = { host: 'localhost', port: String(port), address: '127.0.0.2' }
    await assert.rejects(git(args, { env: { GIT_SSH_COMMAND: machineSshCommand(server) } }), { name: 'GitError' })
    await withDeployKey({ privateKey: generateSshKey().privateKey, hostKey: null }, '127.0.0.2', ({ command }) =>
      assert.rejects(git(args, { env: { GIT_SSH_COMMAND: command } }), { name: 'GitError' }),
    )
    assert.equal(received.filter((data) => data.startsWith('SSH-2.0-')).length, 2)
  })

  test('each git command resolves the host once, and gets the addresses that were checked', async () => {
    const { folder, PATH } = createProgram(
      'git',
      '#!/bin/sh\ncase "$*" in *ls-remote*) env > "$(dirname "$0")/env"; exit 0;; esac\necho git version 2.39.5\n',
    )
    const answers = [['8.8.8.8', '2606:50c0:8000::153'], ['10.0.0.1'], ['1.1.1.1']]
    let lookups = 0
    const lookUp = async (host: string) => {
      assert.equal(host, 'git.example')
      return answers[lookups++] ?? []
    }
    // The host is passed on in one spelling, so that curl finds the pin.
    const remote = {
      ...remoteAt('https://GIT.Example.:8443/acme/R.git'),
      allowPrivate: false,
      allowRedirects: true,
      lookUp,
    }
    const run = () => withEnvironment({ PATH }, () => readRemoteHead(remote))
    await run()
    const environment = () => readFileSync(join(folder, 'env'), 'utf8')
    assert.match(environment(), /=http\.curloptResolve\n/)
    assert.match(environment(), /=git\.example:8443:8\.8\.8\.8,\[2606:50c0:8000::153\]\n/)
    assert.match(environment(), /GIT_CONFIG_VALUE_0=false\n/, 'the target of a redirect would not be checked')
    assert.equal(lookups, 1)
    const message = /^git ls-remote: the host cannot be resolved, or has no public address/
    await assert.rejects(run(), { name: 'GitError', message })
    await run()
    assert.match(environment(), /=git\.example:8443:1\.1\.1\.1\n/)
    await assert.rejects(run(), { name: 'GitError', message })
  })
})

onOneEngine('Repositories at private addresses', (engine) => {
  const service = useService(engine)
  const { admin, connect, request } = repositoryClient(service)
  const facts = { forge: 'github', path: '**' } as const

  test('connecting a private address or an unknown host over HTTP is rejected with one reason, before anything connects to it', async () => {
    const tenant = await admin()
    const { received, port } = await listen()
    const hosts = ['127.0.0.1', 'localhost', '127.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '127.0.0.1.']
    const urls = hosts.flatMap((host) => [`https://${host}:${port}/r.git`, `ssh://git@${host}:${port}/r.git`])
    for (const url of [
      ...urls,
      'git@localhost:r.git',
      'https://169.254.169.254/r',
      'https://[fd00:ec2::254]/r',
      'https://no-such-host.invalid/r',
    ]) {
      const generate_ssh_key = !url.startsWith('https:')
      const response = await request(tenant, 'POST', '', { ...facts, url, generate_ssh_key })
      const message =
        /^url cannot be read: the host cannot be resolved, or has no public address\. Private addresses need ALLOW=private-repository-addresses/
      assertError(response, 422, 'validation_error', message)
    }
    assert.deepEqual(received, [])
    assert.equal((await request(tenant, 'GET', '')).json().pagination.total_count, 0)
  })

  test('a private address is accepted over HTTP if the settings allow it, and always from the operator', async () => {
    const tenant = await admin()
    const { received, port } = await listen()
    const url = `https://127.0.0.1:${port}/r.git`
    service.syncContext.allowPrivateAddresses = true
    onTestEnd(() => {
      service.syncContext.allowPrivateAddresses = false
    })
    assertError(await request(tenant, 'POST', '', { ...facts, url }), 422, 'validation_error', /^url cannot be read: /)
    assert.equal(received.length, 1)
    service.syncContext.allowPrivateAddresses = false
    const connection = {
      ...facts,
      organisationId: tenant.organisation.id,
      url,
      similarity: 100,
      token: null,
      secret: null,
    }
    await assert.rejects(connectRepository(service.syncContext, connection, operator), /cannot be read/)
    assert.equal(received.length, 2)
  })

  test('a host that moves to a private address after connecting is not fetched any more', async () => {
    const tenant = await admin()
    const git = createRemote({ 'p.md': 'Be kind.\n' })
    const { folder, PATH } = createProgram('ssh', forwardingSsh)
    let address = '8.8.8.8'
    service.syncContext.lookUp = async () => [address]
    service.syncContext.allowMachineSshKeys = true
    onTestEnd(() => {
      delete service.syncContext.lookUp
      service.syncContext.allowMachineSshKeys = false
    })
    await withEnvironment({ PATH }, async () => {
      const { id, prompts } = await connect(tenant, git, { ...facts, url: `git@git.example:${git.remote}` })
      assert.equal(prompts.length, 1)
      const runs = () => readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean)
      assert.ok(runs().length > 0 && runs().every((words) => words.includes('-oHostName=8.8.8.8')), runs().join('\n'))
      const before = runs().length
      address = '10.0.0.5'
      await request(tenant, 'POST', `/${id}/sync`)
      await assert.rejects(syncOnce(service.syncContext, id))
      assert.equal(runs().length, before, 'ssh was started')
      const { data } = (await request(tenant, 'GET', `/${id}`)).json()
      assert.equal(data.state, 'failing')
      assert.match(data.last_error, /^git ls-remote: the host cannot be resolved, or has no public address/)
    })
  })

  test('the text of a git server is in no response and no stored error, only in the log', async () => {
    const tenant = await admin()
    const git = createRemote({ 'p.md': 'Be kind.\n' })
    const { folder, PATH } = createProgram('ssh', forwardingSsh)
    const body = { ...facts, url: `git@git.example:${git.remote}` }
    service.syncContext.allowPrivateAddresses = true
    service.syncContext.allowMachineSshKeys = true
    onTestEnd(() => {
      service.syncContext.allowPrivateAddresses = false
      service.syncContext.allowMachineSshKeys = false
    })
    await withEnvironment({ PATH }, async () => {
      const { id } = await connect(tenant, git, body)
      writeFileSync(join(folder, 'answer'), 'remote: INTERNAL answer\u001b[2J\nfatal: INTERNAL not found\n')
      const rejected = await request(tenant, 'POST', '', { ...body, path: 'other/**' })
      assertError(rejected, 422, 'validation_error', /^url cannot be read: /)
      assert.doesNotMatch(rejected.body, /INTERNAL/)
      await request(tenant, 'POST', `/${id}/sync`)
      await assert.rejects(syncOnce(service.syncContext, id))
      const shown = await request(tenant, 'GET', `/${id}`)
      assert.match(
        shown.json().data.last_error,
        /^git ls-remote: the repository does not exist, or the server requires/,
      )
      assert.doesNotMatch(shown.body, /INTERNAL/)
      await eventually(() => assert.ok(service.log.some((line) => line.includes('INTERNAL answer'))))
      assert.ok(!service.log.some((line) => line.includes('\\u001b')), 'control characters reached the log')
    })
  })
})
