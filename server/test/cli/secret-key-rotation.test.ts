import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { runCli } from '../../../testing/cli.ts'
import { type Engine, onOneEngine, sqlite } from '../../../testing/engines.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { generateHookId } from '../../src/domain/repositories/repository.ts'
import type { SealedSecretStore } from '../../src/domain/repositories/secret-rotation.ts'
import { createVault, secretKeyId, type Vault } from '../../src/domain/repositories/vault.ts'
import { findVault, keyFile, openVault, readKeyFile } from '../../src/service/secret-key.ts'

const webhookSecret = 'the-webhook-secret'
const hookId = generateHookId()

/** A database with a repository whose secrets are encrypted with the vault, and a folder for files beside it. */
async function database(
  engine: Engine,
  openVaultIn: (dataDir: string, secrets: SealedSecretStore) => Vault | Promise<Vault>,
) {
  const { url, remove } = await engine.create()
  const dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
  onTestEnd(async () => {
    await remove()
    await rm(dataDir, { recursive: true })
  })
  const store = await openTestStore(url)
  const vault = await openVaultIn(dataDir, store.secrets)
  const { id: organisationId } = await store.organisations.create(newOrganisation('Acme', 'free', 1))
  await store.repositories.connect(
    {
      organisationId,
      forge: 'github',
      url: 'https://git.invalid/acme/prompts',
      path: '*.md',
      similarity: 100,
      hookId,
      sealedToken: vault.encrypt('ghp_1', { hookId, kind: 'token' }),
      sealedSecret: vault.encrypt(webhookSecret, { hookId, kind: 'webhook_secret' }),
      createdAt: 1,
    },
    operator,
  )
  await store.close()
  return { url, dataDir, env: { DATABASE_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'silent' } }
}

async function statusOfDelivery(address: string): Promise<number> {
  const { headers, body } = deliveriesFrom('github', webhookSecret).ping()
  const response = await fetch(`${address}/webhooks/${hookId}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: new Uint8Array(body),
  })
  return response.status
}

async function json(env: NodeJS.ProcessEnv, args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCli(env, [...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const keyIds = async (url: string) => {
  const [row = {}] = await queryRows(url, 'select sealed_token, sealed_secret from repositories')
  return [...new Set(Object.values(row).map((sealed) => String(sealed).split(':')[1]))]
}

async function findingOf(env: NodeJS.ProcessEnv): Promise<{ status: string; message: string }> {
  const { stdout } = await runCli(env, ['doctor', '--json'])
  return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'secret key')
}

describe('A secret key in a file', () => {
  test('a rotation generates a key, and the running service uses it without a restart', async () => {
    const { url, dataDir, env } = await database(sqlite, (dataDir, secrets) =>
      openVault({ secretKey: null, oldSecretKeys: [], databaseUrl: 'sqlite:x', dataDir }, secrets),
    )
    const file = keyFile(dataDir)
    const [first] = readKeyFile(file) as [Buffer]
    const service = await startServe(env)
    assert.equal(await statusOfDelivery(service.address), 202)
    assert.deepEqual(await json(env, ['secret-key', 'rotate']), { reencrypted: 2, unreadable: 0 })
    const [old, current] = readKeyFile(file) as [Buffer, Buffer]
    assert.deepEqual(old, first)
    assert.deepEqual(await keyIds(url), [secretKeyId(current)])
    assert.equal(await statusOfDelivery(service.address), 202)
    assert.equal(statSync(file).mode & 0o777, 0o600)

    assert.deepEqual(await json(env, ['secret-key', 'forget-old']), { forgotten: 1 })
    assert.equal(readFileSync(file, 'utf8'), `${current.toString('hex')}\n`)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(await statusOfDelivery(service.address), 202)
    // The service encrypts with the new key as well.
    await json(env, ['secret-key', 'rotate'])
    await service.stop()
    const restarted = await startServe(env)
    assert.equal(await statusOfDelivery(restarted.address), 202)
    await restarted.stop()
  })

  test('an interrupted rotation continues with its key, and old keys are not forgotten while they are needed', async () => {
    const settings = { secretKey: null, oldSecretKeys: [], databaseUrl: 'sqlite:x' }
    const { url, dataDir, env } = await database(sqlite, (dataDir, secrets) =>
      openVault({ ...settings, dataDir }, secrets),
    )
    const file = keyFile(dataDir)
    const [row = {}] = await queryRows(url, 'select sealed_token from repositories')
    await json(env, ['secret-key', 'rotate'])
    const keys = readKeyFile(file)
    // As if the rotation had been killed before it reached this value.
    await queryRows(url, `update repositories set sealed_token = '${row.sealed_token}'`)
    const { code, stderr } = await runCli(env, ['secret-key', 'forget-old'])
    assert.equal(code, 1)
    assert.match(stderr, /1 stored secret is not encrypted with the current key.*Nothing was changed/)
    const finding = await findingOf(env)
    assert.equal(finding.status, 'warning')
    assert.match(finding.message, /1 of 2 stored secrets .*an old key/)
    assert.deepEqual(await json(env, ['secret-key', 'rotate']), { reencrypted: 1, unreadable: 0 })
    assert.deepEqual(readKeyFile(file), keys)
    assert.equal((await findingOf(env)).status, 'ok')
    const vault = findVault({ ...settings, dataDir })
    assert.ok(
      vault?.isCurrent(String((await queryRows(url, 'select sealed_token from repositories'))[0]?.sealed_token)),
    )
  })
})

onOneEngine('A secret key in the settings', (engine) => {
  test('a rotation replaces the old key, which stays readable until then and is not needed afterwards', async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
    const { url, env } = await database(engine, () => createVault(oldKey))
    const both = {
      ...env,
      PROMPTLEDGER_SECRET_KEY: newKey.toString('hex'),
      PROMPTLEDGER_OLD_SECRET_KEYS: oldKey.toString('base64'),
    }
    const onlyNew = { ...env, PROMPTLEDGER_SECRET_KEY: newKey.toString('hex') }
    const withoutOld = await runCli(onlyNew, ['secret-key', 'rotate'])
    assert.equal(withoutOld.code, 1)
    assert.match(withoutOld.stderr, /None of the keys decrypts 2 stored secrets of repository 1\. Add the key/)
    const service = await startServe(both)
    assert.equal(await statusOfDelivery(service.address), 202)
    assert.equal((await findingOf(both)).status, 'warning')
    const backup = join(env.DATA_DIR, 'backup.gz')
    await json(both, ['backup', backup])
    assert.deepEqual(await json(both, ['secret-key', 'rotate']), { reencrypted: 2, unreadable: 0 })
    assert.deepEqual(await keyIds(url), [secretKeyId(newKey)])
    assert.equal(await statusOfDelivery(service.address), 202)
    await service.stop()
    const restarted = await startServe(onlyNew)
    assert.equal(await statusOfDelivery(restarted.address), 202)
    await restarted.stop()
    assert.equal((await findingOf(onlyNew)).status, 'ok')

    // A backup from before the rotation needs the old key.
    const restored = await engine.create()
    onTestEnd(() => restored.remove())
    const other = { ...onlyNew, DATABASE_URL: restored.url }
    const rejected = await runCli(other, ['restore', backup])
    assert.match(rejected.stderr, /encrypted with another secret key/)
    await json({ ...other, OLD: oldKey.toString('hex') }, ['restore', backup, '--secret-key-env', 'OLD'])
    assert.deepEqual(await keyIds(restored.url), [secretKeyId(newKey)])
  })
})
