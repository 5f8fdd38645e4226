import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sqlite } from '../../testing/engines.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { useLiveService } from './live-service.ts'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))

describe('Documentation of the client', () => {
  const service = useLiveService(sqlite)

  for (const document of ['docs/client.md', 'client/README.md']) {
    test(`the snippets of ${document} have valid types and run as written`, async (t) => {
      // The snippets send the real time.
      service.now = Date.now()
      const tenant = await service.tenant('free', 'admin')
      await tenant.recordEntry()
      await service.ledger(tenant).prompts.rename(tenant.prompt.publicId, { name: 'prompts/support.md' })
      const text = await readFile(new URL(document, root), 'utf8')
      const snippets = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code)
      assert.ok(snippets.length > 0)
      const code = snippets.join('\n')
      // Inside the client's folder, where the package resolves its own name.
      const folder = await mkdtemp(fileURLToPath(new URL('client/snippets-', root)))
      t.after(() => rm(folder, { recursive: true }))
      await writeFile(join(folder, 'snippets.ts'), code)
      const settings =
        '--ignoreConfig --noEmit --strict --module nodenext --target esnext --lib esnext,dom --types node'
      const sources = '--customConditions promptledger:source --allowImportingTsExtensions --skipLibCheck'
      const args = [tsc, ...`${settings} ${sources}`.split(' '), join(folder, 'snippets.ts')]
      await run(process.execPath, args, { cwd: folder }).catch(({ stdout }) => assert.fail(stdout))
      const { stderr } = await run(
        process.execPath,
        ['--conditions=promptledger:source', '--no-warnings', join(folder, 'snippets.ts')],
        {
          cwd: folder,
          env: {
            ...process.env,
            PROMPTLEDGER_KEY: tenant.key,
            PROMPTLEDGER_SIGNING_KEY: (await createSigningKey(service, tenant)).secret,
            PROMPTLEDGER_URL: service.address,
          },
        },
      )
      assert.equal(stderr, '')
      assert.ok((await tenant.used()) > 0)
    })
  }
})
