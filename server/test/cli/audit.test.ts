import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type CliResult, runCli, runCliJson } from '../../../testing/cli.ts'
import { engines, onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { type AuditAction, operator } from '../../src/domain/access/audit.ts'
import type { Store } from '../../src/domain/store.ts'

interface Verified {
  organisation_id: number
  entries: number
  head: string
  unchained: number
  broken_at: { seq: number; problem: string } | null
}

onOneEngine('The audit log on the command line', (engine) => {
  const service = useService(engine)
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-audit-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const cli = (args: string[], url = service.url): Promise<CliResult> =>
    runCli({ DATABASE_URL: url, PROMPTLEDGER_DATA_DIR: folder }, args)

  async function verified({ organisation }: Pick<Tenant, 'organisation'>, ...options: string[]): Promise<Verified> {
    const [result] = await runCliJson<[Verified]>(service.url, [
      'audit',
      'verify',
      '--org',
      String(organisation.id),
      ...options,
    ])
    return result
  }

  async function audited(store: Store, organisationId: number, action: AuditAction) {
    const { entries } = await store.audit.page(
      organisationId,
      { action, actor: null, since: null, until: null },
      { page: '1', limit: 25 },
    )
    return entries.map(({ actor, subject, details }) => ({ actor, subject, details }))
  }

  /** An organisation whose entries name keys, history entries and signals, which an import renumbers. */
  async function eventfulTenant(): Promise<Tenant> {
    const tenant = await service.tenant('free', 'admin')
    const { headers } = tenant
    const [key] = await service.store.keys.list(tenant.organisation.id)
    const url = `${tenant.path}/history`
    const { action, user, commitSha, branchName } = deployedEntry(0)
    const entry = { action, user, commit_sha: commitSha, pr_number: null, pr_url: null, branch_name: branchName }
    const payload = { ...entry, created_at: '2026-11-01T10:00:00Z' }
    assert.equal((await service.app.inject({ method: 'POST', url, headers, payload })).statusCode, 201)
    const { id } = (await tenant.signal({ value: 'positive', metadata: { user: 'u' } })).json().data
    await service.store.signals.delete(tenant.prompt, id, service.now, operator)
    await service.app.inject({ method: 'POST', url: `/api/v1/keys/${key?.id}/rotate`, headers })
    await service.app.inject({
      method: 'POST',
      url: '/api/v1/signals/erase',
      headers,
      payload: { metadata: { user: 'u' } },
    })
    return tenant
  }

  test('verify prints the head of each organisation and exits with 0 while nothing was changed', async () => {
    const [tenant, other] = [await eventfulTenant(), await service.tenant()]
    const { code, stdout, stderr } = await cli(['audit', 'verify'])
    assert.deepEqual([code, stderr], [0, ''])
    for (const { organisation } of [tenant, other]) {
      const { entries, hash } = await service.store.audit.verify(organisation.id)
      assert.ok(
        stdout.includes(`organisation ${organisation.id}: ${entries} entries, head ${entries}:${hash}\n`),
        stdout,
      )
    }
    const { head, ...rest } = await verified(tenant)
    const { organisation } = tenant
    assert.deepEqual(rest, { organisation_id: organisation.id, entries: 6, unchained: 0, broken_at: null })
    await service.store.prompts.rename(tenant.prompt, 'later', service.now, operator)
    assert.equal((await verified(tenant, '--head', head)).broken_at, null)
  })

  test('verify exits with 1 and names the first broken entry, and doctor finds it too', async () => {
    const [changed, shortened] = [await eventfulTenant(), await eventfulTenant()]
    const { id } = changed.organisation
    const doctor = async () => {
      const result = await cli(['doctor', '--json'])
      const findings: Finding[] = JSON.parse(result.stdout)
      return { code: result.code, finding: findings.find(({ check }) => check === 'audit') as Finding }
    }
    const intact = (await doctor()).finding
    assert.equal(intact.status, 'ok', intact.message)
    await queryRows(service.url, `update audit set subject_name = 'x' where organisation_id = ${id} and seq = 3`)
    await queryRows(service.url, `delete from audit where organisation_id = ${shortened.organisation.id} and seq = 6`)
    const { code, stdout, stderr } = await cli(['audit', 'verify', '--org', String(id)])
    assert.equal(code, 1)
    assert.match(stdout, new RegExp(`^organisation ${id}: entry 3 does not match its hash`))
    assert.match(stderr, /^promptledger: The audit log of 1 of 1 organisations is broken\n$/)
    const all = await cli(['audit', 'verify', '--json'])
    assert.equal(all.code, 1)
    const broken = (JSON.parse(all.stdout) as Verified[]).filter(({ broken_at }) => broken_at !== null)
    assert.deepEqual(
      broken.map(({ organisation_id, broken_at }) => [organisation_id, broken_at?.seq]),
      [
        [id, 3],
        [shortened.organisation.id, 6],
      ],
    )
    const found = await doctor()
    assert.deepEqual([found.code, found.finding.status], [1, 'error'])
    assert.ok(
      found.finding.message.includes(`organisation ${id}: entry 3 does not match its hash`),
      found.finding.message,
    )
    assert.match(found.finding.message, /entry 6 is missing at the end/)
  })

  test('verify rejects a malformed head, and a head without an organisation', async () => {
    assert.equal((await cli(['audit', 'verify', '--head', '7', '--org', '1'])).code, 2)
    const { code, stderr } = await cli(['audit', 'verify', '--head', `7:${'a'.repeat(64)}`])
    assert.deepEqual(
      [code, stderr],
      [1, 'promptledger: --head needs --org, because each organisation has its own head.\n'],
    )
  })

  test('recorded and imported lines are audited with their number, and a repeated import is not', async () => {
    const tenant = await service.tenant()
    const { publicId, name } = tenant.prompt
    const line = (n: number) =>
      `${JSON.stringify({ ...wireEntry, branch_name: `b${n}`, created_at: '2026-11-01T10:00:00Z' })}\n`
    const importHistory = () => runCliJson(service.url, ['import', 'history', publicId], line(1) + line(2))
    await importHistory()
    await importHistory()
    const signals = '{"value":"positive","created_at":"2026-11-01T10:00:00Z"}\n'.repeat(3)
    await runCliJson(service.url, ['import', 'signals', publicId], signals)
    const options = ['--action', 'deployed', '--user-name', 'Ada', '--user-email', 'a@example.com', '--branch', 'main']
    const recorded = await runCliJson<{ id: number }>(service.url, [
      'history',
      'record',
      publicId,
      '--commit',
      'a'.repeat(40),
      ...options,
    ])
    const id = tenant.organisation.id
    const common = { actor: null, subject: { id: publicId, name } }
    assert.deepEqual(await audited(service.store, id, 'history.imported'), [{ ...common, details: { entries: 2 } }])
    assert.deepEqual(await audited(service.store, id, 'signals.imported'), [{ ...common, details: { signals: 3 } }])
    assert.deepEqual(await audited(service.store, id, 'history.recorded'), [
      { ...common, details: { entry_id: recorded.id, action: 'deployed', commit_sha: 'a'.repeat(40) } },
    ])
    assert.equal((await verified(tenant)).broken_at, null)
  })

  test('a key can be created with a role and limited to prompts', async () => {
    const { id } = await service.organisation()
    const create = (...options: string[]) => ['key', 'create', '--org', String(id), ...options]
    const args = create('--role', 'recorder', '--prompts', 'prompts/support/**')
    const { stdout } = await cli(args)
    assert.match(
      stdout,
      /^plk_\w{49}\nCreated key \d+ \(recorder, limited to prompts\/support\/\*\*\) for organisation/,
    )
    const wrong = await cli(create('--role', 'admin', '--prompts', 'a'))
    assert.deepEqual([wrong.code, wrong.stdout], [1, ''])
    assert.match(wrong.stderr, /prompts cannot limit the role admin/)
    assert.match((await cli(['key', 'list', '--org', String(id)])).stdout, /recorder +prompts\/support\/\*\*/)
  })

  for (const target of engines) {
    test(`an organisation that is imported on ${target.name} continues its chain, and a broken one only if the operator accepts it`, async () => {
      const [intact, broken] = [await eventfulTenant(), await eventfulTenant()]
      const at = `organisation_id = ${broken.organisation.id}`
      await queryRows(service.url, `update audit set at = at + 1 where ${at} and seq = 4`)
      const { url } = await target.create()
      const store = await openTestStore(url)
      onTestEnd(() => store.close())
      for (const tenant of [intact, broken]) {
        const { id, name } = tenant.organisation
        const file = join(folder, `${target.name}-${id}.gz`)
        assert.equal((await cli(['export', '--org', String(id), file])).code, 0)
        assert.deepEqual(await audited(service.store, id, 'organisation.exported'), [
          { actor: null, subject: { id: String(id), name }, details: null },
        ])
        const source = await service.store.audit.verify(id)
        const isBroken = tenant === broken
        if (isBroken) {
          const rejected = await cli(['import', 'organisation', file], url)
          assert.equal(rejected.code, 1)
          assert.match(rejected.stderr, /entry 4 does not match its hash.+ Nothing was imported.+--accept-broken-audit/)
        }
        const accept = isBroken ? ['--accept-broken-audit'] : []
        const { code, stdout, stderr } = await cli(['import', 'organisation', file, '--json', ...accept], url)
        assert.equal(code, 0, stderr)
        const imported = JSON.parse(stdout).organisation_id
        const result = await store.audit.verify(imported)
        assert.deepEqual([result.entries, result.brokenAt], [source.entries + 1, source.brokenAt])
        assert.equal(source.brokenAt?.seq, isBroken ? 4 : undefined)
        assert.deepEqual(await audited(store, imported, 'organisation.imported'), [
          {
            actor: null,
            subject: { id: String(imported), name },
            details: { entries: source.entries, source_hash: source.hash, ...(isBroken && { broken_at: 4 }) },
          },
        ])
        const [rotation] = await audited(store, imported, 'key.rotated')
        const newKey = await store.keys.find(rotation?.details?.new_key_id as number)
        assert.equal(newKey?.organisationId, imported)
        const [recorded] = await audited(store, imported, 'history.recorded')
        const prompt = (await store.prompts.findInAnyOrganisation(tenant.prompt.publicId)) as NonNullable<
          Awaited<ReturnType<typeof store.prompts.findInAnyOrganisation>>
        >
        const entry = await store.history.find(prompt, recorded?.details?.entry_id as number)
        const recorder = await store.keys.find(entry?.keyId as number)
        assert.equal(recorder?.hint, tenant.key.slice(-4))
      }
    })
  }

  test('a backup that is restored has the same chains', async () => {
    const tenant = await eventfulTenant()
    const file = join(folder, 'backup.gz')
    const { id } = tenant.organisation
    const { url } = await engine.create()
    assert.equal((await cli(['backup', file])).code, 0)
    const before = await service.store.audit.verify(id)
    const restored = await cli(['restore', file], url)
    assert.equal(restored.code, 0, restored.stderr)
    const store = await openTestStore(url)
    onTestEnd(() => store.close())
    assert.deepEqual(await store.audit.verify(id), before)
    await store.prompts.rename(tenant.prompt, 'after', service.now, operator)
    const { entries, brokenAt } = await store.audit.verify(id)
    assert.deepEqual([entries, brokenAt], [before.entries + 1, null])
  })
})

const wireEntry = {
  action: 'deployed',
  user: { name: 'Ada', email: 'ada@example.com' },
  commit_sha: 'b'.repeat(40),
  pr_number: null,
  pr_url: null,
}
