import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { onTestEnd } from '../../testing/cleanup.ts'
import { sqlite } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { without } from '../../testing/installed-tools.ts'
import { killGroup, sampleClient, startProcess } from '../../testing/processes.ts'
import { tarballs } from '../../testing/tarballs.ts'
import { firstVerdict } from '../first-verdict.ts'
import { packAll, type Tarballs } from '../pack.ts'
import { runDocuments } from './documents.ts'

const run = promisify(execFile)
const bundled = ['ajv', 'commander', 'fastify', 'nodemailer', 'pg', 'pino', 'preact', 'wouter']
// And the shared file, which is loaded without the module loader.
const maxFilesAtStart = 6
const maxBuiltinsAtStart = 82
// Each megabyte of code takes some 7 MB of memory.
const maxWorkerBytes = 720_000
const maxInstalledBytes = 15 * 1024 * 1024
// Building, packing and installing take seconds on an idle machine. This only ends what hangs.
const timeoutMs = 600_000

// Slow: installs the packages once, prepares the demo, and runs some forty commands of the guides.
describe('The packages', () => {
  let folder = ''
  let project = ''
  let packed: Tarballs
  let verdict = ''
  const installed = (path: string) => join(project, 'node_modules', path)
  const script = () => installed('promptledger/dist/bin.js')

  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'promptledger-packages-'))
      project = await mkdtemp(join(tmpdir(), 'promptledger-project-'))
      packed = tarballs ?? (await packAll(folder))
      verdict = await firstVerdict(packed, project)
    },
    { timeout: timeoutMs },
  )
  after(async () => {
    await rm(folder, { recursive: true, force: true })
    await rm(project, { recursive: true, force: true })
  })

  test('an empty folder has a verdict after install, start, prompt and signal, without a registry', () => {
    assert.equal(verdict, 'too_little_data 1')
  })

  test('in a checkout, an application can import the client after npm ci', async () => {
    const code = "import { Promptledger } from '@promptledger/client'; console.log(typeof Promptledger)"
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: import.meta.dirname,
    })
    assert.equal(stdout, 'function\n')
  })

  test('installing them brings no other package', async () => {
    const names = (await readdir(installed('.'))).filter((name) => !name.startsWith('.'))
    assert.deepEqual(names, ['@promptledger', 'promptledger'])
    assert.deepEqual(await readdir(installed('@promptledger')), ['client'])
  })

  test('starting the service loads no more files and modules than it needs', async () => {
    const list = join(folder, 'loaded.json')
    const preload = join(folder, 'preload.mjs')
    await writeFile(
      preload,
      `import { registerHooks } from 'node:module'
      import { writeFileSync } from 'node:fs'
      const files = new Set()
      registerHooks({ load: (url, context, next) => { if (url.startsWith('file:')) files.add(url); return next(url, context) } })
      const builtins = new Set(process.moduleLoadList)
      process.on('exit', () => writeFileSync(process.env.LOADED, JSON.stringify({ files: [...files],
        builtins: process.moduleLoadList.filter((name) => !builtins.has(name) && name.startsWith('NativeModule')) })))`,
    )
    const database = await sqlite.createEmpty()
    const env = { DATABASE_URL: database.url, LOADED: list, NODE_OPTIONS: `--import=${preload}` }
    const service = await startProcess(script(), ['serve', '--port', '0'], { env })
    await service.stop()
    const { files, builtins } = JSON.parse(await readFile(list, 'utf8'))
    // Each file and module more takes about a millisecond of every start.
    assert.ok(files.length <= maxFilesAtStart, files.join('\n'))
    assert.ok(builtins.length <= maxBuiltinsAtStart, `${builtins.length}: ${builtins.join(', ')}`)
  })

  test('the worker process loads its own copy of what it needs, and no code of the service', async () => {
    const names = (await readdir(installed('promptledger/dist'))).filter((name) => /^worker.*\.js$/.test(name))
    const texts = await Promise.all(names.map((name) => readFile(installed(`promptledger/dist/${name}`), 'utf8')))
    const loaded = texts.flatMap((text) => [...text.matchAll(/\brequire\(.\.\/([\w.-]+).\)/g)].map(([, name]) => name))
    assert.ok(loaded.length > 2)
    for (const name of loaded) assert.match(name as string, /^worker-/)
    const bytes = texts.reduce((sum, { length }) => sum + length, 0)
    assert.ok(bytes <= maxWorkerBytes, `${bytes} bytes`)
  })

  test('the second start takes the functions that the first compiled, unless others could have written them', async () => {
    const kept = await mkdtemp(join(folder, 'code-'))
    const { url } = await sqlite.create()
    const env = { DATABASE_URL: url, NODE_COMPILE_CACHE: kept }
    async function startAndStop() {
      const service = await startProcess(script(), ['serve', '--port', '0'], { env })
      assert.equal(await service.stop(), 0)
      const [path, ...others] = (await readdir(kept, { recursive: true })).filter((each) => each.includes('shared-'))
      assert.deepEqual(others, [])
      const file = join(kept, path as string)
      const { ino, mode } = await stat(file)
      assert.equal(mode & 0o777, 0o600)
      return { file, ino }
    }
    const { file, ino: first } = await startAndStop()
    assert.equal((await startAndStop()).ino, first)
    await chmod(file, 0o666)
    const { ino: second } = await startAndStop()
    assert.notEqual(second, first)
    await writeFile(file, (await readFile(file)).fill(0, 1_000, 2_000))
    assert.notEqual((await startAndStop()).ino, second)
  })

  test('promptledger takes less than 15 MB and contains no TypeScript', async () => {
    const entries = await readdir(installed('promptledger'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    assert.deepEqual(
      files.filter((file) => /\.tsx?$/.test(file)),
      [],
    )
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(bytes < maxInstalledBytes, `${(bytes / 1024 / 1024).toFixed(1)} MB`)
  })

  test('the licences of all bundled packages come with it', async () => {
    const licences = await readFile(installed('promptledger/THIRD-PARTY-LICENCES.txt'), 'utf8')
    for (const name of bundled) assert.ok(new RegExp(`^${name} [\\d.]+ \\(`, 'm').test(licences), `${name} is missing`)
  })

  test('its SBOM lists each bundled package once', async () => {
    const { bomFormat, components } = JSON.parse(await readFile(installed('promptledger/sbom.json'), 'utf8'))
    assert.equal(bomFormat, 'CycloneDX')
    const names = components.map(({ name }: { name: string }) => name)
    for (const name of bundled) assert.ok(names.includes(name), `${name} is missing`)
    const refs = components.map((component: { 'bom-ref': string }) => component['bom-ref'])
    assert.equal(new Set(refs).size, refs.length)
  })

  test('it has every file that was built', async () => {
    const built = join(dirname(packed.promptledger), 'promptledger')
    const filesOf = async (folder: string) => (await readdir(folder, { recursive: true })).sort()
    assert.deepEqual(await filesOf(installed('promptledger')), await filesOf(built))
  })

  test('the installed service records, answers agents, and has its console and its reference', async () => {
    const { url } = await sqlite.create()
    const service = await startProcess(script(), ['serve', '--port', '0'], { env: { DATABASE_URL: url } })
    const client = sampleClient(service)
    assert.equal((await client.signal()).status, 201)
    const read = async (path: string, init: RequestInit) => {
      const response = await fetch(service.address + path, init)
      assert.equal(response.status, 200, path)
      return response.text()
    }
    const html = { headers: { accept: 'text/html' } }
    const [, code = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await read('/prompts', html)) ?? []
    await read(code, {})
    assert.match(await read('/docs', html), /<title>Promptledger API reference/)
    await read('/docs/page.js', {})
    const answer = await read('/mcp', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${client.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    assert.match(answer, /"find_prompts"/)
    assert.equal(await service.stop(), 0)
  })

  test('the installed demo prints one JSON value, and its worker process reads texts from git', async () => {
    const demo = await startProcess(script(), ['demo', '--port', '0', '--json'], { env: {} })
    const { key, prompts } = JSON.parse(demo.output().stdout)
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${demo.address}/api/v1/prompts/${prompts[0].id}/live`, { headers })
    const { data } = (await response.json()) as { data: { content_state: string } }
    assert.equal(data.content_state, 'available')
    assert.equal(await demo.stop('SIGINT'), 0)
  })

  test('the commands of the guides run as written, beside the service in the folder where it is installed', {
    skip: without('curl'),
  }, async () => {
    const work = await mkdtemp(join(tmpdir(), 'promptledger-documents-'))
    onTestEnd(() => rm(work, { recursive: true, force: true }))
    const { ran, failed } = await runDocuments(project, work)
    assert.deepEqual(failed, [])
    assert.ok(ran >= 20, `${ran} blocks`)
  })

  test('SIGTERM to npx stops the service cleanly, although a shell between them does not pass it on', async (t) => {
    const { PATH, HOME } = process.env
    const { url } = await sqlite.create()
    const env = { PATH, HOME, DATABASE_URL: url, PORT: '0' }
    // A group of its own, so that a failure leaves no service behind.
    const npx = spawn('npx', ['promptledger'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    t.after(() => killGroup(npx))
    // Its output ends when the last process that writes to it has ended.
    const closed = once(npx, 'close')
    let output = ''
    for (const stream of [npx.stdout, npx.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    await eventually(() => assert.match(output, /listening on http/))
    npx.kill('SIGTERM')
    await closed
    assert.match(output, /"msg":"stopping"/)
  })

  test('an older Node is told which version is needed', async () => {
    const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.18.0"})'
    await assert.rejects(
      run(process.execPath, ['--import', older, script(), '--version']),
      ({ code, stderr }: { code: number; stderr: string }) => {
        assert.equal(code, 1)
        assert.match(stderr, /^promptledger: Node\.js 22\.13 or newer is required, and this is 20\.18\.0\./)
        return true
      },
    )
  })
})
