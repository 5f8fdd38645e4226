import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { GitHttpServer } from '../../../testing/git-http.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { HttpProxy } from '../../../testing/http-proxy.ts'
import { ensureMirror, fetchBranch, type Mirror } from '../../src/git/mirror.ts'
import { createFolder, createProgram, createRemote, megabyte, remoteAt, withEnvironment } from './git-environment.ts'

const realGit = execFileSync('sh', ['-c', 'command -v git']).toString().trim()

/** A git for which 2 s are a minute: it gives up on a silent server after a thirtieth of the time. */
const hastyGit = `#!/bin/sh
for argument; do
  shift
  case $argument in
  http.lowSpeedTime=*) argument=http.lowSpeedTime=$((\${argument#*=} / 30)) ;;
  esac
  set -- "$@" "$argument"
done
exec ${realGit} "$@"
`

// The first fetch waits for 10 s and a later one for 2 s, so a slow machine has seconds to spare in both.
const firstSilenceMs = 4_000
const laterSilenceMs = 8_000

describe('A server that is silent for longer than a minute', () => {
  const proxy = new HttpProxy()
  let repository: GitRepository
  let mirror: Mirror

  before(async () => {
    // git keeps a pack of at least 100 objects, by which a later fetch is told from the first.
    const files = Array.from({ length: 100 }, (_, i) => [`${i}.md`, `Prompt ${i}\n`])
    repository = createRemote(Object.fromEntries(files))
    const server = await new GitHttpServer().start()
    server.folders.set('/prompts', repository.remote)
    await proxy.open(server.port)
    const remote = { ...remoteAt(`${proxy.address}/prompts`), allowHttp: true }
    mirror = { path: join(createFolder(), 'mirror.git'), remote, sizeLimit: megabyte }
    // It counts the objects before it sends the first.
    respondAfter(firstSilenceMs)
    await ensureMirror(mirror, repository.head())
  })

  after(() => proxy.close())

  function respondAfter(milliseconds: number): void {
    proxy.fate = (_, { method }) => (method === 'POST' ? { do: 'delay', milliseconds } : { do: 'pass' })
  }

  test('is waited for on the first fetch, and given up on a later one', async () => {
    const { PATH } = createProgram('git', hastyGit)
    await withEnvironment({ PATH }, async () => {
      assert.equal(await fetchBranch(mirror, 'main'), repository.head())
      repository.commit('Change', { '0.md': 'Be kind.\n' })
      repository.push()
      respondAfter(laterSilenceMs)
      const reason = 'git fetch: the server cannot be reached or responds with an error'
      await assert.rejects(fetchBranch(mirror, 'main'), { name: 'GitError', message: reason, failure: 'connection' })
    })
  })
})
