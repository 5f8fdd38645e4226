import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { sqlite } from '../../testing/engines.ts'
import { isInstalled } from '../../testing/installed-tools.ts'
import { useLiveService } from './live-service.ts'
import { tsc, usePackedClient } from './packed-client.ts'

const run = promisify(execFile)

const runtimes = [
  { name: 'Node', command: process.execPath, args: [], isAvailable: true },
  { name: 'Deno', command: 'deno', args: ['run', '--allow-all'], isAvailable: isInstalled('deno') },
  { name: 'Bun', command: 'bun', args: ['run'], isAvailable: isInstalled('bun') },
]

/** Runs against the package as published, installed into an empty project. */
describe('The published package', () => {
  const service = useLiveService(sqlite)
  const client = usePackedClient()

  for (const { name, command, args, isAvailable } of runtimes) {
    test(`the package works in JavaScript on ${name}`, {
      skip: !isAvailable && `${name} is not installed (npm install --global ${name.toLowerCase()})`,
    }, async () => {
      const tenant = await service.tenant()
      await writeFile(
        join(client.project, 'vote.js'),
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
      const { stdout } = await run(command, [...args, ...script], { cwd: client.project })
      assert.deepEqual(stdout.trim().split('\n').sort(), ['negative', 'positive', 'true'])
    })
  }

  test('the package works in TypeScript, and its types reject invalid calls', async () => {
    await writeFile(
      join(client.project, 'vote.ts'),
      `import { type HistoryEntry, type Page, Promptledger, type Signal } from '@promptledger/client'
      import { fileSpool } from '@promptledger/client/spool'
      import '@promptledger/client/thumbs'
      const thumbs = document.createElement('promptledger-thumbs')
      thumbs.addEventListener('vote', ({ detail }) => detail.comment satisfies string)
      thumbs.addEventListener('error', ({ detail }) => detail.status satisfies number)
      // @ts-expect-error
      thumbs.addEventListener('vote', ({ detail }) => detail.status)
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
      await run(process.execPath, args, { cwd: client.project }).catch(({ stdout }) =>
        assert.fail(`${module}: ${stdout}`),
      )
    }
  })

  test('CommonJS can require the package, and import it where Node cannot require ES modules', async () => {
    await writeFile(
      join(client.project, 'vote.cjs'),
      `const { Promptledger } = require('@promptledger/client')
      const { fileSpool } = require('@promptledger/client/spool')
      console.log(typeof Promptledger, typeof fileSpool)`,
    )
    await writeFile(
      join(client.project, 'import.cjs'),
      `import('@promptledger/client').then(({ Promptledger }) => console.log(typeof Promptledger))`,
    )
    const required = await run(process.execPath, ['vote.cjs'], { cwd: client.project })
    assert.deepEqual(required, { stdout: 'function function\n', stderr: '' })
    const older = '--no-experimental-require-module'
    await assert.rejects(run(process.execPath, [older, 'vote.cjs'], { cwd: client.project }), /ERR_REQUIRE_ESM/)
    const { stdout } = await run(process.execPath, [older, 'import.cjs'], { cwd: client.project })
    assert.equal(stdout, 'function\n')
  })

  test('CommonJS in TypeScript can import the package with the settings that the guide names', async () => {
    await writeFile(
      join(client.project, 'static.cts'),
      `import { Promptledger } from '@promptledger/client'
      import { fileSpool } from '@promptledger/client/spool'
      new Promptledger({ apiKey: 'plk_x' }).signals.queue({ spool: fileSpool('x') })`,
    )
    await writeFile(
      join(client.project, 'dynamic.cts'),
      `import type { Promptledger } from '@promptledger/client' with { 'resolution-mode': 'import' }
      export const ledger: Promise<Promptledger> = import('@promptledger/client').then(
        ({ Promptledger }) => new Promptledger({ apiKey: 'plk_x' }),
      )`,
    )
    const settings = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023,dom', '--types', '']
    const compile = (module: string, ...files: string[]) =>
      run(process.execPath, [tsc, ...settings, '--module', module, ...files], { cwd: client.project })
    await compile('nodenext', 'static.cts', 'dynamic.cts').catch(({ stdout }) => assert.fail(stdout))
    await compile('node18', 'dynamic.cts').catch(({ stdout }) => assert.fail(stdout))
    await assert.rejects(compile('node18', 'static.cts'), ({ stdout }) => /TS1479/.test(stdout))
  })

  test('the package has no dependencies, and only the spool uses Node modules', async () => {
    const manifest = JSON.parse(await readFile(join(client.installed, 'package.json'), 'utf8'))
    assert.equal(manifest.dependencies, undefined)
    // Only for the components and the provider, which are imported by applications that have them.
    const optional = { optional: true }
    const peers = { '@openfeature/server-sdk': optional, react: optional, vue: optional }
    assert.deepEqual(manifest.peerDependenciesMeta, peers)
    const { imports } = await bundle(join(client.installed, 'dist/index.js'))
    assert.deepEqual(imports, [])
  })

  test('the package is at most 10 KB when minified and compressed', async () => {
    const { code } = await bundle(join(client.installed, 'dist/index.js'))
    const size = gzipSync(code, { level: 9 }).length
    assert.ok(size <= 10_000, `${size} bytes`)
  })

  test('the thumbs are one file without imports, of at most 3 KB when compressed', async () => {
    const code = await readFile(join(client.installed, 'dist/thumbs.js'), 'utf8')
    assert.doesNotMatch(code, /\bimport\b/)
    const size = gzipSync(code, { level: 9 }).length
    assert.ok(size <= 3_000, `${size} bytes`)
  })

  async function bundle(input: string): Promise<{ code: string; imports: string[] }> {
    const { output } = await build({ input, write: false, output: { format: 'esm', minify: true } })
    return output[0]
  }
})
