import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { generateHookId, type Repository } from '../../src/domain/repositories/repository.ts'
import {
  listSecrets,
  placeOf,
  reencryptSecrets,
  type SealedSecretStore,
} from '../../src/domain/repositories/secret-rotation.ts'
import { createVault, type Vault } from '../../src/domain/repositories/vault.ts'

function encryptedAsV1(key: Buffer, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  return `v1:${Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')}`
}

onOneEngine('Rotating the secret key', (engine) => {
  const service = useService(engine)

  const storedSecrets = () => Array.fromAsync(listSecrets(service.store.secrets))

  /** Connects a repository with every kind of secret, and with an old webhook secret. */
  async function connect(vault: Vault, secret: string): Promise<Repository> {
    const { id: organisationId } = await service.organisation()
    const hookId = generateHookId()
    const sealedSecret = vault.encrypt('first', { hookId, kind: 'webhook_secret' })
    const repository = await service.store.repositories.connect(
      {
        organisationId,
        forge: 'github',
        url: 'https://github.example/acme/prompts',
        path: '*.md',
        similarity: 100,
        hookId,
        sealedToken: vault.encrypt('ghp_1', { hookId, kind: 'token' }),
        sealedSshKey: vault.encrypt('ssh', { hookId, kind: 'ssh_key' }),
        sealedSecret,
        createdAt: service.now,
      },
      operator,
    )
    assert.ok(repository)
    const sealed = vault.encrypt(secret, { hookId, kind: 'webhook_secret' })
    const replaced = { sealed, oldUntil: service.now + 3_600_000 }
    return service.store.repositories.rotateSecret(repository, replaced, service.now, operator)
  }

  async function startRotation() {
    await queryRows(service.url, 'delete from repositories')
    const oldKey = randomBytes(32)
    const oldVault = createVault(oldKey)
    const repositories = [await connect(oldVault, 'secret-1'), await connect(oldVault, 'secret-2')] as const
    const newKey = randomBytes(32)
    const vault = createVault(newKey, [oldKey])
    service.syncContext.vault = vault
    return { repositories, oldKey, newKey, vault }
  }

  /** Both repositories accept deliveries signed with their secret. */
  async function assertAccepted(repositories: readonly Repository[]): Promise<void> {
    for (const [i, { hookId }] of repositories.entries()) {
      const { headers, body } = deliveriesFrom('github', `secret-${i + 1}`).ping()
      const response = await service.app.inject({
        method: 'POST',
        url: `/webhooks/${hookId}`,
        headers: { 'content-type': 'application/json', ...headers },
        payload: body,
      })
      assert.equal(response.statusCode, 202, response.body)
    }
  }

  test('every secret is encrypted with the new key, and deliveries are accepted before, during and after', async () => {
    const { repositories, newKey, vault } = await startRotation()
    assert.equal((await storedSecrets()).length, 8)
    const { list, replace } = service.store.secrets
    const observed: SealedSecretStore = {
      list,
      async replace(...all) {
        await assertAccepted(repositories)
        return replace(...all)
      },
    }
    assert.deepEqual(await reencryptSecrets(observed, vault, service.now), { reencrypted: 8, unreadable: [] })
    assert.ok((await storedSecrets()).every(({ sealed }) => vault.isCurrent(sealed)))
    service.syncContext.vault = createVault(newKey)
    await assertAccepted(repositories)
    assert.deepEqual(await reencryptSecrets(service.store.secrets, vault, service.now), {
      reencrypted: 0,
      unreadable: [],
    })
  })

  test('the target and both secrets of an alert are encrypted with the new key, each for its own alert', async () => {
    const { repositories, newKey, vault } = await startRotation()
    const { organisationId } = repositories[0]
    service.syncContext.vault = createVault(newKey)
    const [one, two] = [
      await addAlert(service, organisationId),
      await addAlert(service, organisationId, { target: 'https://b.example/' }),
    ]
    const oldKey = randomBytes(32)
    const old = createVault(oldKey)
    for (const { id, publicId: alertId } of [one, two]) {
      const sealedTarget = old.encrypt(`https://${id}.example/`, { alertId, kind: 'alert_target' })
      const [secret, before] = ['new', 'before'].map((text) => old.encrypt(text, { alertId, kind: 'alert_secret' }))
      await queryRows(
        service.url,
        `update alerts set sealed_target = '${sealedTarget}', sealed_secret = '${secret}', sealed_old_secret = '${before}' where id = ${id}`,
      )
    }
    const current = createVault(newKey, [oldKey])
    const isOfAlert = ({ table }: { table: string }) => table === 'alerts'
    assert.equal((await storedSecrets()).filter(isOfAlert).length, 6)
    await reencryptSecrets(service.store.secrets, current, service.now)
    assert.ok(vault.isCurrent((await storedSecrets()).filter(isOfAlert)[0]?.sealed ?? ''))
    const alerts = await service.store.alerts.list(organisationId)
    for (const { id, publicId: alertId, sealedTarget, sealedSecret, sealedOldSecret } of alerts) {
      assert.ok(current.isCurrent(sealedTarget))
      assert.equal(
        createVault(newKey).decrypt(sealedTarget, { alertId, kind: 'alert_target' }),
        `https://${id}.example/`,
      )
      const secrets = [sealedSecret, sealedOldSecret].map((sealed) =>
        createVault(newKey).decrypt(sealed ?? '', { alertId, kind: 'alert_secret' }),
      )
      assert.deepEqual(secrets, ['new', 'before'])
    }
    const moved = alerts[0]?.sealedTarget ?? ''
    const place = { alertId: alerts[1]?.publicId ?? '', kind: 'alert_target' } as const
    assert.throws(() => createVault(newKey).decrypt(moved, place), /another repository, alert, source, key or column/)
    await queryRows(service.url, 'delete from alerts')
  })

  test('each organisation has one audit entry with the number of its secrets, and none if nothing changed', async () => {
    const { repositories, vault } = await startRotation()
    await reencryptSecrets(service.store.secrets, vault, service.now)
    await reencryptSecrets(service.store.secrets, vault, service.now)
    for (const { organisationId } of repositories) {
      const filter = { action: 'secrets.reencrypted', actor: null, since: null, until: null } as const
      const { entries } = await service.store.audit.page(organisationId, filter, { page: '1', limit: 10 })
      assert.deepEqual(
        entries.map(({ actor, subject, details }) => ({ actor, subject, details })),
        [{ actor: null, subject: { id: String(organisationId), name: 'Acme' }, details: { secrets: 4 } }],
      )
    }
  })

  test('secrets in the format of earlier versions stay valid, and are replaced', async () => {
    const { repositories, oldKey, newKey, vault } = await startRotation()
    const { id } = repositories[0]
    const sealed = encryptedAsV1(oldKey, 'secret-1')
    await queryRows(service.url, `update repositories set sealed_secret = '${sealed}' where id = ${id}`)
    await assertAccepted(repositories)
    assert.equal((await reencryptSecrets(service.store.secrets, vault, service.now)).reencrypted, 8)
    service.syncContext.vault = createVault(newKey)
    await assertAccepted(repositories)
  })

  test('an interrupted rotation leaves every secret readable, and continues when it is run again', async () => {
    const { repositories, vault } = await startRotation()
    const { list, replace } = service.store.secrets
    let left = 1
    const failing: SealedSecretStore = {
      list,
      async replace(...all) {
        if (left-- === 0) throw new Error('killed')
        return replace(...all)
      },
    }
    await assert.rejects(reencryptSecrets(failing, vault, service.now), /killed/)
    await assertAccepted(repositories)
    assert.equal((await reencryptSecrets(service.store.secrets, vault, service.now)).reencrypted, 4)
    assert.ok((await storedSecrets()).every(({ sealed }) => vault.isCurrent(sealed)))
  })

  test('a webhook secret that is replaced during the rotation is not overwritten', async () => {
    const { repositories, oldKey, vault } = await startRotation()
    const [repository] = repositories
    const { list, replace } = service.store.secrets
    let isReplaced = false
    const racing: SealedSecretStore = {
      list,
      async replace(...all) {
        if (!isReplaced) {
          isReplaced = true
          // As a process does that does not have the new key yet.
          service.syncContext.vault = createVault(oldKey)
          await service.repositories.rotateSecret(repository, 3_600_000, operator)
          service.syncContext.vault = vault
        }
        return replace(...all)
      },
    }
    await reencryptSecrets(racing, vault, service.now)
    const secrets = await storedSecrets()
    assert.ok(secrets.every(({ sealed }) => vault.isCurrent(sealed)))
    const texts = secrets
      .filter(({ table, id }) => table === 'repositories' && id === repository.id)
      .map((secret) => [secret.column, vault.decrypt(secret.sealed, placeOf(secret))])
    const { sealed_secret: current, sealed_old_secret: old } = Object.fromEntries(texts)
    assert.equal(old, 'secret-1')
    assert.notEqual(current, old)
  })

  test('a secret that none of the keys decrypts is reported and left unchanged', async () => {
    const { repositories, vault } = await startRotation()
    const { id, hookId } = repositories[0]
    const foreign = createVault(randomBytes(32)).encrypt('lost', { hookId, kind: 'token' })
    await queryRows(service.url, `update repositories set sealed_token = '${foreign}' where id = ${id}`)
    const { reencrypted, unreadable } = await reencryptSecrets(service.store.secrets, vault, service.now)
    assert.equal(reencrypted, 7)
    assert.deepEqual(
      unreadable.map(({ id, column, sealed }) => [id, column, sealed]),
      [[id, 'sealed_token', foreign]],
    )
    assert.ok((await storedSecrets()).some(({ sealed }) => sealed === foreign))
  })
})
