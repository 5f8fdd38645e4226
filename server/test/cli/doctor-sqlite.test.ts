import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  openSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCli } from '../../../testing/cli.ts'
import { sqlite, type TestDatabase } from '../../../testing/engines.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import { allocator } from '../../src/service/allocator.ts'
import { assertFinds, problemsIn, query } from './doctor-findings.ts'

describe('The doctor on a SQLite file', () => {
  let database: TestDatabase
  let file: string
  let env: NodeJS.ProcessEnv
  before(async () => {
    database = await sqlite.create()
    env = { DATABASE_URL: database.url }
    file = database.url.slice('sqlite:'.length)
    assert.equal((await runCli(env, ['org', 'create', 'Acme'])).code, 0)
  })

  test('a missing file is reported and not created, and the checks of the machine still run', async () => {
    const missing = join(dirname(file), 'elsewhere', 'none.db')
    const findings = await doctor({ ...allocator, DATABASE_URL: `sqlite:${missing}` })
    assert.deepEqual(problemsIn(findings), { database: 'error', 'secret key': 'warning', 'data directory': 'warning' })
    assert.match(findings[1]?.message ?? '', /none\.db does not exist/)
    assert.match(findings[1]?.fix ?? '', /DATABASE_URL/)
    for (const check of ['git', 'data directory']) assert.ok(findings.some((finding) => finding.check === check))
    assert.equal(existsSync(dirname(missing)), false)
  })

  test('a damaged file, or one that is not SQLite, is reported', async () => {
    const damaged = join(dirname(file), 'damaged.db')
    // The first pages hold the schema, without which the file cannot even be opened.
    for (const at of [4_096, statSync(file).size - 8_192]) {
      copyFileSync(file, damaged)
      writeSync(openSync(damaged, 'r+'), randomBytes(8_192), 0, 8_192, at)
      const first = (await doctor({ DATABASE_URL: `sqlite:${damaged}` })).find(({ check }) => check === 'database')
      assert.equal(first?.status, 'error')
      assert.match(`${first?.message}. ${first?.fix}`, /is damaged: .*backup/)
    }
    writeFileSync(damaged, randomBytes(8_192))
    const second = (await doctor({ DATABASE_URL: `sqlite:${damaged}` })).find(({ check }) => check === 'database')
    assert.equal(second?.status, 'error')
    assert.match(second?.message ?? '', /file is not a database/)
  })

  test('a read-only file or folder is reported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-readonly-'))
    const copy = join(folder, 'copy.db')
    copyFileSync(file, copy)
    chmodSync(copy, 0o444)
    if (process.getuid?.() === 0) for (const path of [folder, copy]) chownSync(path, unprivilegedUser, unprivilegedUser)
    assert.match(
      await outputAsUnprivilegedUser(copy, file),
      /^error {4}database file: .*copy\.db is not writable: EACCES.*Make it writable/m,
    )
    chmodSync(copy, 0o644)
    await rm(`${copy}-wal`, { force: true })
    await rm(`${copy}-shm`, { force: true })
    chmodSync(folder, 0o555)
    const output = await outputAsUnprivilegedUser(copy, file)
    assert.match(output, /^error {4}database: cannot be opened: .*promptledger-readonly-\S+ is not writable/m)
    assert.match(output, /^error {4}data directory: .*is not writable: EACCES.*DATA_DIR/m)
    chmodSync(folder, 0o755)
    await rm(folder, { recursive: true })
  })

  test('a file outside WAL mode and an oversized WAL are reported', async () => {
    await query(database.url, 'pragma journal_mode = delete')
    await assertFinds({ env }, { check: 'database log', status: 'warning', message: /mode is delete/, fix: /Restart/ })
    await query(database.url, 'pragma journal_mode = wal')
    // Sparse, so it takes no disk space.
    writeFileSync(`${file}-wal`, '')
    truncateSync(`${file}-wal`, 300 * 1024 * 1024)
    await assertFinds(
      { env },
      { check: 'database log', status: 'warning', message: /grown to 300 MB/, fix: /Stop long-running readers/ },
    )
    await rm(`${file}-wal`)
  })

  test('a key file that other users can read is reported', async () => {
    writeFileSync(join(dirname(file), 'secret.key'), randomBytes(32).toString('hex'), { mode: 0o644 })
    await assertFinds(
      { env },
      { check: 'secret key', status: 'warning', message: /other users of this machine/, fix: /chmod 600/ },
    )
  })
})

test('a malformed DATABASE_URL is reported without its password, and the checks of the machine still run', async () => {
  const findings = await doctor({ DATABASE_URL: 'mysql://me:PASSWORD@example.com/ledger' })
  assert.deepEqual(problemsIn(findings), { settings: 'error' })
  assert.match(findings[0]?.message ?? '', /DATABASE_URL must be sqlite:/)
  assert.equal(findings[1]?.check, 'git')
  assert.doesNotMatch(JSON.stringify(findings), /PASSWORD/)
})

const unprivilegedUser = 65_534

/**
 * The doctor's output for a user who is not root. It examines an intact file first, which loads its modules, because that user may not be able
 * to read the checkout.
 */
async function outputAsUnprivilegedUser(file: string, intact: string): Promise<string> {
  const program = `
    const { doctor, describeFindings } = await import(${JSON.stringify(new URL('../../src/doctor/doctor.ts', import.meta.url).href)})
    await doctor({ DATABASE_URL: ${JSON.stringify(`sqlite:${intact}`)} })
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${unprivilegedUser}); process.setuid(${unprivilegedUser}) }
    console.log(describeFindings(await doctor({ DATABASE_URL: ${JSON.stringify(`sqlite:${file}`)} })))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  return stdout
}
