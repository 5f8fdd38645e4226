import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sqlite } from '../../testing/engines.ts'
import { useLiveService } from './ledger.ts'

const run = promisify(execFile)
const documents = ['../../docs/client.md', '../README.md']

describe('The snippets of', () => {
  const service = useLiveService(sqlite)

  for (const document of documents) {
    test(`${document.replace(/^(\.\.\/)+/, '')} run, one after the other, as they stand there`, async () => {
      const tenant = await service.tenant('free', 'admin')
      await tenant.record()
      const text = await readFile(new URL(document, import.meta.url), 'utf8')
      const snippets = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
      assert.ok(snippets.length > 0)
      const code = snippets
        .join('\n')
        .replaceAll('pmt_…', tenant.prompt.publicId)
        .replaceAll('https://ledger.example.com', service.address)
      // Within the client's folder, so that the package finds itself by its name.
      const folder = await mkdtemp(fileURLToPath(new URL('../snippets-', import.meta.url)))
      try {
        await writeFile(join(folder, 'snippets.ts'), code)
        const { stderr } = await run(
          process.execPath,
          ['--conditions=promptledger:source', '--no-warnings', join(folder, 'snippets.ts')],
          { cwd: folder, env: { ...process.env, PROMPTLEDGER_KEY: tenant.key } },
        )
        assert.equal(stderr, '')
        assert.ok((await tenant.used()) > 0)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }
})
