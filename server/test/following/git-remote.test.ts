import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { type Remote, remoteEnvironment } from '../../src/git/remote-access.ts'
import { git } from '../../src/git/run.ts'
import { createProgram, remoteAt, token, withEnvironment } from './git-environment.ts'

/** The value of a setting that git itself uses for the URL. */
async function settingFor(remote: Remote, name: string, url: string): Promise<string> {
  const env = remoteEnvironment(remote)
  const value = await git(['config', '--get-urlmatch', name, url], { env }).catch(() => '')
  return value.toString().trim()
}

describe('The git environment of a remote', () => {
  test('the token is sent to its own scheme, host and port only', async () => {
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

  test('the token is not used for a URL other than https', () => {
    for (const url of ['ssh://git@h/r', 'git@h:r', '/srv/r']) {
      const credentials = { user: 'x-access-token', token }
      const environment = JSON.stringify(remoteEnvironment({ ...remoteAt(url), credentials, allowLocal: true }))
      assert.ok(!environment.includes(Buffer.from(token).toString('base64').slice(4, 20)), url)
      assert.ok(!environment.includes('Authorization'), url)
    }
  })

  test('the token is sent over plain http only if that is allowed', async () => {
    const url = 'http://git.example/r'
    const remote = { ...remoteAt(url), credentials: { user: 'x-access-token', token } }
    assert.equal(await settingFor(remote, 'http.extraHeader', url), '')
    const allowed = { ...remote, allowHttp: true }
    assert.match(await settingFor(allowed, 'http.extraHeader', url), /^Authorization: Basic /)
    assert.equal(await settingFor(allowed, 'http.extraHeader', 'http://git.example:8080/r'), '')
    assert.equal(await settingFor(allowed, 'http.extraHeader', 'https://git.example/r'), '')
  })

  test('git follows no redirect unless the settings allow it', async () => {
    const url = 'https://git.example/r'
    assert.equal(await settingFor(remoteAt(url), 'http.followRedirects', url), 'false')
    assert.equal(await settingFor({ ...remoteAt(url), allowRedirects: true }, 'http.followRedirects', url), 'initial')
  })

  test('git uses only https and ssh, plain http only for http URLs, and folders only for local ones', () => {
    assert.equal(remoteEnvironment(remoteAt('https://h/r')).GIT_ALLOW_PROTOCOL, 'https:ssh')
    const local = { ...remoteAt('/srv/r'), allowLocal: true }
    assert.equal(remoteEnvironment(local).GIT_ALLOW_PROTOCOL, 'https:ssh:file')
    const http = { ...remoteAt('http://h/r'), allowHttp: true }
    assert.equal(remoteEnvironment(http).GIT_ALLOW_PROTOCOL, 'https:ssh:http')
    assert.equal(remoteEnvironment({ ...http, url: 'https://h/r' }).GIT_ALLOW_PROTOCOL, 'https:ssh')
  })
})

onOneEngine('Repositories that have moved', (engine) => {
  const service = useService(engine)

  test('connecting a repository whose server redirects fails with a hint at the new URL', async () => {
    const stderr = "fatal: unable to access 'https://git.example/r.git/': The requested URL returned error: 302"
    const { PATH } = createProgram('git', `#!/bin/sh\necho "${stderr}" >&2\nexit 128\n`)
    // The host does not exist, so there is no address to check.
    service.syncContext.allowPrivateAddresses = true
    const { headers } = await service.tenant('free', 'admin')
    const payload = { forge: 'github', url: 'https://git.example/r.git', path: '**' }
    const response = await withEnvironment({ PATH }, () =>
      service.app.inject({ method: 'POST', url: '/api/v1/repositories', headers, payload }),
    )
    assertError(response, 422, 'validation_error', /^url cannot be read: the repository moved\. Use its new URL/)
  })
})
