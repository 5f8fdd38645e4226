import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { validRepositoryUrl } from '../../src/domain/repositories/repository-url.ts'
import { readRemoteHead } from '../../src/git/remote.ts'
import { createFolder, createRemote, remoteAt } from './git-environment.ts'

const accepted = [
  'https://github.com/acme/prompts.git',
  'https://git.example:8443/a/b',
  'https://[::1]/a/b.git',
  'ssh://git@git.example/acme/prompts.git',
  'ssh://git.example:2222/~ada/prompts',
  'git@github.com:acme/prompts.git',
  'ada.l-x_1@git-1.example:prompts',
]

const rejected = [
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

describe('Repository URLs', () => {
  test('https, ssh and git@host:path URLs are accepted', () => {
    for (const url of accepted) {
      for (const allowLocal of [false, true])
        assert.equal(validRepositoryUrl(url, { allowLocal, allowHttp: false }), url)
    }
  })

  test('any other URL is rejected with a reason', () => {
    for (const url of rejected) {
      for (const allowLocal of [false, true]) {
        const error = { code: 'validation_error', message: /^url must / }
        assert.throws(() => validRepositoryUrl(url, { allowLocal, allowHttp: false }), error, url)
      }
    }
  })

  test('a folder on this machine is accepted only if the settings allow it', () => {
    for (const url of ['/srv/prompts.git', 'file:///srv/prompts.git']) {
      assert.equal(validRepositoryUrl(url, { allowLocal: true, allowHttp: false }), url)
      assert.throws(() => validRepositoryUrl(url, { allowLocal: false, allowHttp: false }), {
        message: /ALLOW=local-repositories/,
      })
    }
  })

  test('plain http is accepted only if it is allowed, and never with a password', () => {
    const url = 'http://git.example:3000/acme/prompts.git'
    assert.equal(validRepositoryUrl(url, { allowLocal: false, allowHttp: true }), url)
    const message = /^url must not be plain http:.+ALLOW=http-repositories/
    assert.throws(() => validRepositoryUrl(url, { allowLocal: true, allowHttp: false }), { message })
    for (const invalid of [
      'http://user:password@h/r',
      'http://user@h/r',
      'http:h/r',
      'http://h/r?x',
      'http://h\\@e/r',
    ]) {
      assert.throws(() => validRepositoryUrl(invalid, { allowLocal: true, allowHttp: true }), { field: 'url' }, invalid)
    }
  })

  test('git itself runs no program and reads no folder for a URL that bypassed validation', async () => {
    const marker = join(createFolder(), 'ran')
    const { remote } = createRemote({ 'a.md': 'a\n' })
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
