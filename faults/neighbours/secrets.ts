import { setTimeout as pause } from 'node:timers/promises'
import { runCli } from '../../testing/cli.ts'
import { mainScript, spawnNode } from '../../testing/processes.ts'
import { queryRows } from '../../testing/rows.ts'
import { type Attack, check } from './attack.ts'
import { connect, deliver } from './client.ts'

/** The encrypted secret of one repository, copied to another in the database. */
export const copiedSecret: Attack = {
  name: '15: an encrypted secret copied to another repository',
  isLoad: false,
  async prepare(site) {
    const [known, other] = [await connect(site, site.attacker.key), await connect(site, site.neighbour.key)]
    return async () => {
      const [row] = await queryRows(site.url, `select sealed_secret from repositories where id = ${other.id}`)
      const copy = `(select sealed_secret from repositories where id = ${known.id})`
      await queryRows(site.url, `update repositories set sealed_secret = ${copy} where id = ${other.id}`)
      const status = await deliver(site, other.hook, known.forge.ping())
      await queryRows(
        site.url,
        `update repositories set sealed_secret = '${row?.sealed_secret}' where id = ${other.id}`,
      )
      check(status >= 400, `a delivery signed with the copied secret was answered with ${status}`)
      return `rejected with ${status}`
    }
  },
}

/** `secret-key rotate`, killed at several moments and run again. */
export const killedRotation: Attack = {
  name: '15: a killed rotation of the secret key',
  isLoad: false,
  async prepare(site) {
    const repositories = [await connect(site, site.attacker.key), await connect(site, site.neighbour.key)]
    // The service has both keys. The rotation encrypts with the one that was the old one.
    const env = {
      ...site.env,
      PROMPTLEDGER_SECRET_KEY: site.env.PROMPTLEDGER_OLD_SECRET_KEYS,
      PROMPTLEDGER_OLD_SECRET_KEYS: site.env.PROMPTLEDGER_SECRET_KEY,
    }
    const checkAll = async (moment: string) => {
      for (const { hook, forge } of repositories) {
        const status = await deliver(site, hook, forge.ping())
        check(status === 202, `${moment}, a delivery was answered with ${status}`)
      }
    }
    return async () => {
      const kills = site.isShort ? 1 : 5
      for (let i = 0; i < kills; i++) {
        const { child, exited } = spawnNode([mainScript, 'secret-key', 'rotate'], { env })
        await Promise.race([exited, pause(200 + 150 * i)])
        child.kill('SIGKILL')
        await exited
        await checkAll('after a killed rotation')
      }
      const { code, stderr } = await runCli(env, ['secret-key', 'rotate'])
      check(code === 0, `the rotation failed: ${stderr}`)
      const stored = await queryRows(site.url, 'select sealed_secret from repositories')
      const keyIds = new Set(stored.map(({ sealed_secret }) => String(sealed_secret).split(':')[1]))
      check(keyIds.size === 1, `the secrets have ${keyIds.size} keys after the rotation`)
      await checkAll('after the rotation')
      return `${kills} kills; ${stored.length} secrets rotated`
    }
  },
}
