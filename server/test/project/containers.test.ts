import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { allocator } from '../../src/service/allocator.ts'
import { exitAfterMs } from '../../src/service/shutdown.ts'

const root = new URL('../../../', import.meta.url)
const chart = 'deploy/helm/promptledger'
const read = (file: string) => readFile(new URL(file, root), 'utf8')

describe('The containers', () => {
  test('every container runs read-only, without privileges and without a way to gain any', async () => {
    const compose = await read('compose.yaml')
    const hardened = section(compose, 'x-hardened: &hardened')
    for (const line of [
      'read_only: true',
      'cap_drop: [ALL]',
      'security_opt: ["no-new-privileges:true"]',
      'tmpfs: [/tmp]',
    ]) {
      assert.ok(hardened.includes(`  ${line}\n`), line)
    }
    const services = compose.slice(compose.indexOf('\nservices:'), compose.indexOf('\nvolumes:'))
    const names = [...services.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name)
    assert.deepEqual(names, ['promptledger', 'with-postgres', 'postgres'])
    assert.equal(services.match(/^ {4}<<: \*hardened$/gm)?.length, names.length)
    assert.doesNotMatch(compose, /privileged|network_mode|pid:/)
    assert.match(await read('Dockerfile'), /^USER node$/m)
  })

  test('the service is published on this machine only, and PostgreSQL not at all', async () => {
    const compose = await read('compose.yaml')
    const published = [...compose.matchAll(/ports: (.*)/g)].map(([, ports]) => ports)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of compose
    assert.deepEqual(published, Array(2).fill('["${PUBLISH_ADDRESS:-127.0.0.1}:3000:3000"]'))
  })

  test('passwords and keys reach the containers as files', async () => {
    const compose = await read('compose.yaml')
    assert.doesNotMatch(compose, /(PASSWORD|SECRET_KEY|DATABASE_URL)(?!_FILE):/)
    assert.match(compose, /DATABASE_URL_FILE: \/run\/secrets\/database_url/)
  })

  test('every image can be pinned by its digest', async () => {
    const [compose, dockerfile] = [await read('compose.yaml'), await read('Dockerfile')]
    for (const [, image] of compose.matchAll(/image: (.*)/g)) assert.match(image as string, /^\$\{POSTGRES_IMAGE:-/)
    for (const [, image] of dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm))
      assert.match(image as string, /^\$\{NODE_IMAGE\}$/)
  })

  test('every way to run the service gives it more time to stop than it takes', async () => {
    const secondsToStop = 10
    assert.ok(exitAfterMs < secondsToStop * 1_000)
    const files = [await read('compose.yaml'), await read('deploy/systemd/promptledger.service')]
    const deployment = await read(`${chart}/templates/deployment.yaml`)
    assert.ok(seconds(files[0], /stop_grace_period: (\d+)s/) > secondsToStop)
    assert.ok(seconds(files[1], /^TimeoutStopSec=(\d+)$/m) > secondsToStop)
    const beforeSignal = seconds(deployment, /preStop:\s+exec: \{ command: \[sleep, "(\d+)"\]/)
    assert.ok(seconds(deployment, /terminationGracePeriodSeconds: (\d+)/) > beforeSignal + secondsToStop)
  })
})

test('every way to run the service that sets its environment sets the allocator', async () => {
  const settings = Object.entries(allocator)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
  for (const file of [
    'Dockerfile',
    'deploy/systemd/promptledger.service',
    'package.json',
    'docs/operations/overload.md',
  ]) {
    assert.ok((await read(file)).includes(settings), file)
  }
})

test('the space for short-lived objects stays within its limit without a flag of node', async () => {
  const module = new URL('server/src/service/heap.ts', root)
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { limitYoungGeneration } from '${module}'
    if (process.argv[1] === 'limited') limitYoungGeneration(8 * 1024 * 1024)
    let [kept, largest] = [[], 0]
    for (let turn = 0; turn < 150; turn++) {
      for (let i = 0; i < 20_000; i++) kept.push({ i, list: [i] })
      if (kept.length > 60_000) kept = kept.slice(30_000)
      largest = Math.max(largest, getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)
      await new Promise(setImmediate)
    }
    console.log(Math.round(largest / 1024 / 1024))
    process.exit()`
  const largest = async (mode: string) => {
    const args = ['--input-type=module', '--eval', script, mode]
    return Number((await promisify(execFile)(process.execPath, args)).stdout)
  }
  // V8 exceeds its capacity for moments, by what a collection keeps: 10 to 19 MB, and 128 MB without the limit.
  const [limited, unlimited] = [await largest('limited'), await largest('unlimited')]
  assert.ok(limited <= 32 && unlimited >= 64, `${limited} MB with the limit, ${unlimited} MB without`)
})

test('what a burst leaves behind is given back while there is nothing to do', async () => {
  const module = new URL('server/src/service/heap.ts', root)
  const script = `
    import { setTimeout as pause } from 'node:timers/promises'
    import { returnGarbage } from '${module}'
    const megabyte = 1024 * 1024
    let kept = Array.from({ length: 40 }, () => [Buffer.alloc(megabyte, 1), Array.from({ length: 10_000 }, (_, i) => ({ i }))])
    kept = null
    const before = process.memoryUsage.rss()
    returnGarbage({ keptBytes: 64 * megabyte, burstBytes: 20 * megabyte, intervalMs: 20 })
    const deadline = Date.now() + 60_000
    while (process.memoryUsage.rss() > before - 30 * megabyte && Date.now() < deadline) await pause(20)
    console.log(Math.round((before - process.memoryUsage.rss()) / megabyte))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...allocator },
  })
  assert.ok(Number(stdout) >= 30, `${stdout.trim()} MB are given back`)
})

describe('The secrets of compose.yaml', () => {
  test('are created once, random, and closed to other users', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-secrets-'))
    t.after(() => rm(folder, { recursive: true }))
    const script = join(folder, 'deploy/compose-secrets.sh')
    await cp(fileURLToPath(new URL('deploy/compose-secrets.sh', root)), script)
    const run = async () => {
      await promisify(execFile)(script)
      const names = ['postgres_password', 'secret_key', 'database_url']
      return Promise.all(names.map((name) => readFile(join(folder, 'secrets', name), 'utf8')))
    }
    const [password, secretKey, url] = await run()
    assert.match(`${password} ${secretKey}`, /^([0-9a-f]{64}) (?!\1)[0-9a-f]{64}$/)
    assert.equal(url, `postgres://promptledger:${password}@postgres/promptledger`)
    assert.equal((await stat(join(folder, 'secrets'))).mode & 0o777, 0o700)
    assert.deepEqual(await run(), [password, secretKey, url])
  })
})

describe('The Helm chart', () => {
  test('installs the version of the package', async () => {
    const { version } = JSON.parse(await read('server/package.json'))
    assert.match(await read(`${chart}/Chart.yaml`), new RegExp(`^appVersion: "${version}"$`, 'm'))
  })

  test('takes the database URL from a Secret only, and refuses SQLite', async () => {
    const deployment = await read(`${chart}/templates/deployment.yaml`)
    assert.match(deployment, /^\{\{- include "promptledger.refuseSqlite" \. -\}\}\n/)
    assert.deepEqual(deployment.match(/name: DATABASE_URL.*/g), [
      'name: DATABASE_URL_FILE, value: /secrets/database-url }',
    ])
    assert.match(deployment, /secret: \{ secretName: \{\{ \.Values\.secretName \}\}/)
  })

  test('keeps replicas in service while the database is unavailable', async () => {
    const deployment = await read(`${chart}/templates/deployment.yaml`)
    const probes = [...deployment.matchAll(/(\w+)Probe:\s+httpGet: \{ path: (\S+),/g)].map(([, name, path]) => [
      name,
      path,
    ])
    assert.deepEqual(probes, [
      ['startup', '/readyz'],
      ['liveness', '/healthz'],
      ['readiness', '/healthz'],
    ])
  })
})

function seconds(text: string | undefined, pattern: RegExp): number {
  return Number(text?.match(pattern)?.[1])
}

/** The lines of a top-level key, without the key. */
function section(text: string, key: string): string {
  const start = text.indexOf(`\n${key}\n`) + key.length + 2
  return text.slice(start, text.indexOf('\n\n', start) + 1)
}
