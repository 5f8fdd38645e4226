import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { sqlite } from '../../testing/engines.ts'
import { useLiveService } from './live-service.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

const runtimes = [
  { name: 'Node', command: process.execPath, args: [], isAvailable: true },
  { name: 'Deno', command: 'deno', args: ['run', '--allow-all'], isAvailable: isInstalled('deno') },
  { name: 'Bun', command: 'bun', args: ['run'], isAvailable: isInstalled('bun') },
]

function isInstalled(tool: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)))
}

/** Runs against the package as published, installed into an empty project. */
describe('The published package', () => {
  const service = useLiveService(sqlite)
  let folder = ''
  let project = ''
  let installed = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-package-'))
    project = join(folder, 'project')
    installed = join(project, 'node_modules/@promptledger/client')
    const published = join(folder, 'published')
    await mkdir(installed, { recursive: true })
    await run(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(published, 'dist')])
    for (const file of ['package.json', 'README.md']) await cp(join(root, file), join(published, file))
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: published })
    const [{ filename }] = JSON.parse(stdout)
    await run('tar', ['-xzf', join(published, filename), '-C', installed, '--strip-components=1'])
    await writeFile(join(project, 'package.json'), '{"type":"module"}')
  })
  after(() => rm(folder, { recursive: true }))

  for (const { name, command, args, isAvailable } of runtimes) {
    test(`the package works in JavaScript on ${name}`, {
      skip: !isAvailable && `${name} is not installed`,
    }, async () => {
      const tenant = await service.tenant()
      await writeFile(
        join(project, 'vote.js'),
        `import { NotFoundError, Promptledger } from '@promptledger/client'
      import { fileSpool } from '@promptledger/client/spool'
      const [apiKey, baseUrl, prompt] = process.argv.slice(2)
      const ledger = new Promptledger({ apiKey, baseUrl })
      await ledger.signals.create(prompt, { value: 'positive' })
      const queue = ledger.signals.queue({ spool: fileSpool('spool.ndjson') })
      queue.add(prompt, { value: 'negative' })
      await queue.close()
      for await (const { value } of ledger.signals.list(prompt)) console.log(value)
      await ledger.prompts.get('pmt_none').catch((error) => console.log(error instanceof NotFoundError))`,
      )
      const script = ['vote.js', tenant.key, service.address, tenant.prompt.publicId]
      const { stdout } = await run(command, [...args, ...script], { cwd: project })
      assert.deepEqual(stdout.trim().split('\n').sort(), ['negative', 'positive', 'true'])
    })
  }

  test('the package works in TypeScript, and its types reject invalid calls', async () => {
    await writeFile(
      join(project, 'vote.ts'),
      `import { type HistoryEntry, type Page, Promptledger, type Signal } from '@promptledger/client'
      import { fileSpool } from '@promptledger/client/spool'
      const ledger = new Promptledger({ apiKey: 'plk_x', baseUrl: 'https://ledger.example.com' })
      export async function use(): Promise<void> {
        const id: number = (await ledger.signals.create('pmt_x', { value: 'positive' })).id
        const page: Page<HistoryEntry> = await ledger.history.list('pmt_x')
        for await (const entry of ledger.history.list('pmt_x')) entry satisfies HistoryEntry
        for await (const signal of ledger.signals.export('pmt_x')) signal satisfies Signal
        for await (const text of ledger.signals.export('pmt_x', { format: 'csv' })) text satisfies string
        ledger.signals.queue({ spool: fileSpool('x') }).add('pmt_x', { value: 'negative' })
        // @ts-expect-error
        await ledger.signals.create('pmt_x', { value: 'so-so' })
        // @ts-expect-error
        await ledger.prompts.list({ sort: 'age' })
        // @ts-expect-error
        page.data[0]?.commitSha
        void id
      }`,
    )
    for (const module of ['nodenext', 'preserve']) {
      const settings = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023,dom', '--types', '']
      const args = [tsc, ...settings, '--module', module, '--skipLibCheck', 'false', 'vote.ts']
      await run(process.execPath, args, { cwd: project }).catch(({ stdout }) => assert.fail(`${module}: ${stdout}`))
    }
  })

  test('the package has no dependencies, and only the spool uses Node modules', async () => {
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
    const { imports } = await bundle(join(installed, 'dist/index.js'))
    assert.deepEqual(imports, [])
  })

  test('the package is at most 6 KB when minified and compressed', async () => {
    const { code } = await bundle(join(installed, 'dist/index.js'))
    const size = gzipSync(code, { level: 9 }).length
    assert.ok(size <= 6_000, `${size} bytes`)
  })

  async function bundle(input: string): Promise<{ code: string; imports: string[] }> {
    const { output } = await build({ input, write: false, output: { format: 'esm', minify: true } })
    return output[0]
  }
})
