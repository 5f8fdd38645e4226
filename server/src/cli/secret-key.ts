import type { Command } from 'commander'
import type { Config } from '../config.ts'
import type { Reencryption } from '../domain/repositories/secret-rotation.ts'
import { formatCount, print } from './output.ts'
import { withStore } from './with-store.ts'

export function secretKeyCommands(program: Command): void {
  const secretKey = program
    .command('secret-key')
    .description('manage the key that encrypts tokens, webhook secrets and the targets of alerts')

  secretKey
    .command('rotate')
    .summary('encrypt all stored secrets with a new key')
    .description(
      'encrypt all stored secrets with a new key, while the service runs. With SQLite and no PROMPTLEDGER_SECRET_KEY, the new ' +
        'key is generated. Otherwise set PROMPTLEDGER_SECRET_KEY to the new key and PROMPTLEDGER_OLD_SECRET_KEYS to the old ' +
        'one, and restart the service first. Run it again if it is interrupted',
    )
    .action((_options: object, command: Command) =>
      withStore(async (store, config) => {
        const { rotateSecretKey } = await import('../service/secret-key-rotation.ts')
        const rotated = await rotateSecretKey(config, store)
        const { reencrypted, unreadable } = rotated
        print(command, { reencrypted, unreadable: unreadable.length }, describe(rotated, config))
        if (unreadable.length > 0) throw new Error(describeUnreadable(rotated))
      }),
    )

  secretKey
    .command('forget-old')
    .description('remove old keys from secret.key, once no stored secret needs them')
    .action((_options: object, command: Command) =>
      withStore(async (store, config) => {
        const { forgetOldKeys } = await import('../service/secret-key-rotation.ts')
        const { forgotten } = await forgetOldKeys(config, store)
        print(command, { forgotten }, `Removed ${formatCount(forgotten, 'old key')}.`)
      }),
    )
}

function describe({ reencrypted }: Reencryption, { secretKey, oldSecretKeys }: Config): string {
  const done = `Encrypted ${formatCount(reencrypted, 'stored secret')} with the current key.`
  if (secretKey === null) {
    return `${done} Old keys stay in secret.key, so that running processes can finish: remove them with 'promptledger secret-key forget-old'.`
  }
  if (oldSecretKeys.length > 0) {
    return `${done} Remove PROMPTLEDGER_OLD_SECRET_KEYS from the settings now. Store the old key as long as you store backups from before.`
  }
  return `${done} To use another key, set PROMPTLEDGER_SECRET_KEY to it and PROMPTLEDGER_OLD_SECRET_KEYS to the old one, restart the service, and run this again.`
}

function describeUnreadable({ unreadable }: Reencryption): string {
  const owners = [
    ...new Set(
      unreadable.map(({ table, id, place }) => {
        if (table === 'alerts') return `alert ${place}`
        if (table === 'sources') return `source ${place}`
        if (table === 'organisations') return `organisation ${id}`
        return table === 'api_keys' ? `key ${id}` : `repository ${id}`
      }),
    ),
  ]
  const listed = owners.slice(0, 10).join(', ') + (owners.length > 10 ? ', …' : '')
  return (
    `None of the keys decrypts ${formatCount(unreadable.length, 'stored secret')} of ${listed}. Add the key that encrypted ` +
    'them to PROMPTLEDGER_OLD_SECRET_KEYS and run this again, or connect those repositories again'
  )
}
