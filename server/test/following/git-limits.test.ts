import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { readLog } from '../../src/git/log.ts'
import { ensureMirror, fetchBranch, type Mirror } from '../../src/git/mirror.ts'
import { remoteEnvironment } from '../../src/git/remote-access.ts'
import { git } from '../../src/git/run.ts'
import { createFolder, createProgram, createRemote, megabyte, remoteAt, withEnvironment } from './git-environment.ts'

/** An ssh that records its process id and never responds. */
const silentSsh = '#!/bin/sh\necho $$ >> "$(dirname "$0")/pids"\nexec sleep 60\n'

/** An ssh that serves a local repository slowly. */
const slowSsh = `#!${process.execPath}
const { spawn } = require('node:child_process')
const { appendFileSync } = require('node:fs')
appendFileSync(__dirname + '/pids', process.pid + '\\n')
const child = spawn('sh', ['-c', process.argv.at(-1)], { stdio: ['inherit', 'pipe', 'inherit'] })
child.stdout.on('data', (chunk) => {
  child.stdout.pause()
  process.stdout.write(chunk)
  setTimeout(() => child.stdout.resume(), 20)
})
child.stdout.on('end', () => appendFileSync(__dirname + '/finished', ''))
`

async function assertProcessesExited(folder: string): Promise<void> {
  const file = join(folder, 'pids')
  assert.ok(existsSync(file), 'ssh never ran')
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
  await eventually(() => assert.deepEqual(pids.filter(isRunning), []), { timeoutMs: 10_000 })
}

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function mirrorOf(url: string, sizeLimit: number): Mirror {
  return { path: join(createFolder(), 'mirror.git'), remote: remoteAt(url), sizeLimit }
}

function temporaryFilesIn({ path }: Mirror): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => /tmp_|\.lock$/.test(file))
}

describe('The limits of git', () => {
  test('git is killed with all its child processes when it times out', async () => {
    const { folder, PATH } = createProgram('ssh', silentSsh)
    await withEnvironment({ PATH }, async () => {
      const start = performance.now()
      // Long enough for ssh to start on a slow machine, where git runs with a low priority.
      const run = git(['ls-remote', 'git@h:r'], { timeoutMs: 10_000, env: remoteEnvironment(remoteAt('git@h:r')) })
      await assert.rejects(run, { name: 'GitError', message: 'git ls-remote: timed out' })
      assert.ok(performance.now() - start < 30_000, 'git was not killed in time')
      await assertProcessesExited(folder)
    })
  })

  test('git is killed with all its child processes when the repository is too large, and leaves no files behind', async () => {
    const repository = createRemote({ 'big.bin': randomBytes(12 * megabyte) })
    const { folder, PATH } = createProgram('ssh', slowSsh)
    const mirror = mirrorOf(`git@h:${repository.remote}`, megabyte)
    await withEnvironment({ PATH }, async () => {
      await ensureMirror(mirror, repository.head())
      const message = `git fetch: the repository exceeds ${megabyte} bytes (REPOSITORY_SIZE_LIMIT)`
      await assert.rejects(fetchBranch(mirror, 'main'), { name: 'GitError', message })
      await assertProcessesExited(folder)
      assert.ok(!existsSync(join(folder, 'finished')), 'the whole repository was fetched')
      assert.deepEqual(temporaryFilesIn(mirror), [])
    })
  })

  test('a repository that is too large is rejected even if the fetch finishes before the first check', async () => {
    const repository = createRemote({ 'big.bin': randomBytes(2 * megabyte) })
    const url = repository.remote
    const mirror = { ...mirrorOf(url, megabyte), remote: { ...remoteAt(url), allowLocal: true } }
    await ensureMirror(mirror, repository.head())
    await assert.rejects(fetchBranch(mirror, 'main'), { message: /exceeds 1048576 bytes/ })
    await fetchBranch({ ...mirror, sizeLimit: 4 * megabyte }, 'main')
  })

  test('git is killed when it prints more than the limit', async () => {
    const repository = createRemote({ 'big.txt': 'x'.repeat(megabyte) })
    const run = git(['cat-file', 'blob', 'HEAD:big.txt'], { mirror: repository.remote, maxBytes: 1_000 })
    await assert.rejects(run, { name: 'GitError', message: 'git cat-file: printed more than 1000 bytes' })
  })

  test('git is killed when the reader of its log stops early', async () => {
    const repository = new GitRepository()
    for (let i = 0; i < 50; i++) repository.commit(`Commit ${i}\n\n${'x'.repeat(5_000)}`, { 'p.md': `${i}\n` })
    const options = { pathspecs: [':(glob)**'], matches: null, similarity: 100, maxFiles: 100, isKnown: () => false }
    for await (const _ of readLog(join(repository.checkout, '.git'), ['HEAD'], options)) break
    await eventually(() => !process.getActiveResourcesInfo().includes('ProcessWrap'), { timeoutMs: 10_000 })
  })
})
