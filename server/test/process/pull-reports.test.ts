import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, onEachEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { startServe } from '../../../testing/processes.ts'
import { regressionMessage } from '../../../testing/regression-message.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { generateHookId } from '../../src/domain/repositories/repository.ts'
import { createVault } from '../../src/domain/repositories/vault.ts'

const secretKey = '0'.repeat(64)

onEachEngine('Reports on pull requests by running processes', (engine) => {
  test('a process that is killed after the forge stored the comment leads to an edit by the next one', async () => {
    const { env, url, forge } = await stage(engine)
    const created = Promise.withResolvers<void>()
    forge.after = (request) => {
      if (!/^POST .*\/comments$/.test(request)) return Promise.resolve()
      created.resolve()
      return new Promise(() => {})
    }
    const first = await startServe(env, ['--port', '0', '--json'])
    await created.promise
    await first.kill()
    assert.equal(forge.comments.length, 1)

    forge.after = async () => {}
    // Instead of waiting for a minute.
    await queryRows(url, 'update alert_deliveries set due_at = 0')
    await queryRows(url, 'update pull_comments set claimed_until = 0')
    // A SQLite file is for one service.
    const replicas = engine.name === 'SQLite' ? [1] : [1, 2]
    const others = await Promise.all(replicas.map(() => startServe(env, ['--port', '0', '--json'])))
    const [delivery] = (await eventually(async () => {
      const rows = await queryRows(url, "select state, error from alert_deliveries where state <> 'pending'")
      return rows.length > 0 && rows
    })) as { state: string; error: string | null }[]
    assert.deepEqual({ ...delivery }, { state: 'sent', error: null })
    assert.equal(forge.comments.length, 1)
    // The services also sync the repository, at any time.
    const ofComments = forge.requests.filter((request) => /\/comments\b/.test(request))
    assert.match(ofComments.at(-1) ?? '', /^PATCH .*\/issues\/comments\/1000$/)
    for (const each of others) assert.equal(await each.stop(), 0)
  })
})

/** A database with a report that is due, and the settings of a service on it. */
async function stage(engine: Engine) {
  const { url } = await engine.create()
  const dataDir = mkdtempSync(join(tmpdir(), 'promptledger-data-'))
  onTestEnd(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }))
  const forge = await new ForgeApiServer('gitea').start()
  forge.commits.add('a1'.repeat(20))
  const store = await openTestStore(url)
  const organisation = await store.organisations.create(newOrganisation('Acme', 'free', Date.now()))
  const hookId = generateHookId()
  const repository = await store.repositories.connect(
    {
      organisationId: organisation.id,
      forge: 'gitea',
      url: forge.cloneUrl,
      path: 'prompts/**',
      similarity: 50,
      hookId,
      sealedToken: createVault(Buffer.from(secretKey, 'hex')).encrypt(forge.token, { hookId, kind: 'token' }),
      sealedSecret: '',
      reportsOnPulls: true,
      createdAt: Date.now(),
    },
    operator,
  )
  assert(repository !== null)
  await store.close()
  const message = JSON.stringify(regressionMessage(repository))
  await queryRows(
    url,
    `insert into alert_deliveries (organisation_id, public_id, notice_id, event, round, message, state, due_at, created_at)
     values (${organisation.id}, 'msg_1', 1, 'regression.opened', 1, '${message}', 'pending', 0, ${Date.now()})`,
  )
  const env = { DATABASE_URL: url, DATA_DIR: dataDir, PROMPTLEDGER_SECRET_KEY: secretKey }
  return { env, url, forge }
}
