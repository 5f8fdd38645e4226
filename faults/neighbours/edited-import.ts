import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCli } from '../../testing/cli.ts'
import { type ArchiveEdit, writeEditedArchive } from '../../testing/edited-archive.ts'
import { queryRows } from '../../testing/rows.ts'
import { type Attack, check } from './attack.ts'
import { connect } from './client.ts'

/** An export with a local path as URL or escape sequences in a name, which the operator imports. */
export const editedImport: Attack = {
  name: '8: an edited export',
  isLoad: false,
  async prepare(site) {
    await connect(site, site.attacker.key)
    const victim = await connect(site, site.neighbour.key)
    const exported = join(site.folder, 'export.gz')
    const { code, stderr } = await runCli(site.env, ['export', '--org', String(site.attacker.organisationId), exported])
    check(code === 0, `the export failed: ${stderr}`)
    const mirrors = join(site.folder, 'data')
    const edits: [ArchiveEdit, RegExp][] = [
      [['organisations', 'name', 'Acme\u001b]0;pwned\u0007'], /name must not contain control characters/],
      [['organisations', 'plan', 'unlimited'], /plan must be one of/],
      [['repositories', 'url', mirrors], /ALLOW=local-repositories/],
    ]
    // An installation of its own, because the rows exist already in that of the site.
    const database = join(site.folder, 'imported.db')
    await writeFile(database, '')
    const url = `sqlite:${database}`
    const env = { ...site.env, DATABASE_URL: url, ALLOW: '' }
    return async () => {
      for (const [i, [edit, reason]] of edits.entries()) {
        const file = writeEditedArchive(exported, join(site.folder, `edited-${i}.gz`), [edit])
        const result = await runCli(env, ['import', 'organisation', file])
        check(result.code === 1, `an import with ${edit[0]}.${edit[1]} ended with ${result.code}`)
        check(reason.test(result.stderr), `an import with ${edit[0]}.${edit[1]} was rejected with: ${result.stderr}`)
        const printed = result.stdout + result.stderr
        check(!printed.includes('\u001b]0;'), 'an escape sequence was printed')
        check(!printed.includes(victim.secret), 'a secret was printed')
      }
      const [imported] = await queryRows(url, 'select count(*) as count from organisations')
      check(Number(imported?.count) === 0, 'rows were imported')
      return `${edits.length} rejected with the reason`
    }
  },
}
