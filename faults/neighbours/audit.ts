import { generateSecret } from '../../server/src/domain/access/api-key.ts'
import { runCli } from '../../testing/cli.ts'
import { queryRows } from '../../testing/rows.ts'
import { type Attack, check } from './attack.ts'
import { api, createKey, request } from './client.ts'

/** One entry of the audit log, changed in the database. */
export const changedAudit: Attack = {
  name: 'audit: a changed entry',
  isLoad: false,
  async prepare(site) {
    const { organisationId } = site.attacker
    const entry = `organisation_id = ${organisationId} and seq = 2`
    const [row] = await queryRows(site.url, `select subject_name from audit where ${entry}`)
    const rename = (name: unknown) => queryRows(site.url, `update audit set subject_name = '${name}' where ${entry}`)
    const verify = () => runCli(site.env, ['audit', 'verify', '--org', String(organisationId)])
    return async () => {
      await rename('forged')
      const { code, stdout } = await verify()
      await rename(row?.subject_name)
      check(code === 1 && /entry 2 /.test(stdout), `verify ended with ${code}: ${stdout}`)
      const restored = await verify()
      check(restored.code === 0, `verify ended with ${restored.code} for the original entry: ${restored.stdout}`)
      return 'found by verify'
    }
  },
}

const clients = 32

/** Unknown keys and a revoked one, as fast as they are answered. */
export const wrongKeys: Attack = {
  name: 'audit: a flood of wrong keys',
  isLoad: true,
  async prepare(site) {
    const { key: admin } = site.attacker
    const revoked = await createKey(site, { role: 'reader' })
    await api(site, admin, 'DELETE', `/keys/${revoked.id}`)
    const count = async () => {
      const [row] = await queryRows(site.url, 'select count(*) as count from audit')
      return Number(row?.count)
    }
    return async () => {
      const before = await count()
      const end = performance.now() + site.seconds * 1_000
      let sent = 0
      const flood = async () => {
        do {
          const key = sent++ % 2 === 0 ? generateSecret() : revoked.key
          const { status } = await request(site, { path: '/api/v1/usage', key })
          check(status === 401, `a wrong key was answered with ${status}`)
        } while (performance.now() < end)
      }
      await Promise.all(Array.from({ length: clients }, flood))
      const added = (await count()) - before
      check(added <= 17, `${added} audit entries were added`)
      return `${sent} rejected, ${added} audit entries`
    }
  },
}
