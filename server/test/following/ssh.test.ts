import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { validRepositoryUrl } from '../../src/domain/repositories/repository-url.ts'
import { readRemoteHead } from '../../src/git/remote.ts'
import { createProgram, remoteAt, withEnvironment } from './git-environment.ts'

describe('ssh', () => {
  test('ssh gets the host as one argument and a quoted path, never prompts, and checks host keys', async () => {
    const { folder, PATH } = createProgram(
      'ssh',
      '#!/bin/sh\nfor word; do printf "%s\\n" "$word" >> "$(dirname "$0")/log"; done\nexit 1\n',
    )
    const marker = join(folder, 'ran')
    for (const url of [`git@host:a;touch\${IFS}${marker}`, `ssh://git@host/$(touch%20${marker})/'\`id\``]) {
      validRepositoryUrl(url, { allowLocal: false, allowHttp: false })
      await withEnvironment({ PATH }, () => assert.rejects(readRemoteHead(remoteAt(url)), { name: 'GitError' }))
      const words = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
      rmSync(join(folder, 'log'))
      const options = words.filter((word) => word.startsWith('-'))
      assert.ok(options.includes('-oBatchMode=yes'))
      assert.ok(!options.some((option) => /ProxyCommand|StrictHostKeyChecking/i.test(option)), options.join())
      assert.ok(words.includes('git@host'), words.join())
      assert.match(words.at(-1) as string, /^git-upload-pack '.*'$/)
    }
    assert.ok(!existsSync(marker))
  })
})
