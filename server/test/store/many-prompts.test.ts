import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { databaseWorkOf } from '../../../testing/database-work.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { hour } from '../../src/domain/time.ts'

interface Node {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

/** How many rows each part of a plan has read. */
function rowsOf({
  'Actual Rows': rows,
  'Actual Loops': loops,
  'Rows Removed by Filter': removed = 0,
  Plans = [],
}: Node): number[] {
  return [(rows + removed) * loops, ...Plans.flatMap(rowsOf)]
}

function scansOf(node: Node, table: string): Node[] {
  const { 'Relation Name': of, Plans = [] } = node
  return [...(of === table ? [node] : []), ...Plans.flatMap((each) => scansOf(each, table))]
}

// Citus plans these statements for each shard.
if (!isCitus)
  onPostgres('A page of many prompts', () => {
    const byName =
      (descending: boolean) =>
      async ({ store }: TestService, organisationId: number) => {
        const order = { by: 'name', descending, since: 0 } as const
        await store.prompts.page(organisationId, { search: '', glob: null }, order, { page: '1', limit: 50 })
        return [organisationId, 50, 0]
      }

    for (const [what, pageOf] of Object.entries({
      'by name': byName(false),
      'by name, from the last': byName(true),
      'for the judge': async ({ store, now }: TestService) => {
        await store.sweep.votedPrompts(now - 24 * hour, 100, 50)
        return [now - 24 * hour, 100, 50]
      },
    })) {
      test(`${what} is read without the others`, async () => {
        const service = new TestService()
        await service.open(postgres)
        const { organisation, prompt } = await service.tenant()
        const client = new pg.Client(service.url)
        await client.connect()
        onTestEnd(() => client.end())
        const of = [organisation.id, service.now]
        await client.query(
          `insert into prompts (organisation_id, public_id, name, created_at, has_unique_name)
           select $1, 'pmt_' || n, 'prompt ' || n, $2::bigint, 1 from generate_series(1, 3000) n`,
          of,
        )
        const first = Math.floor(service.now / hour) * hour
        await client.query(
          `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
           select organisation_id, id, ${first} - h * ${hour}::bigint, 1, 1 from prompts, generate_series(0, 19) h where id > $1`,
          [prompt.id],
        )
        await client.query('analyze')
        let parameters: unknown[] = []
        const { statements } = await databaseWorkOf(async () => {
          parameters = await pageOf(service, organisation.id)
        })
        const sql = statements.find((statement) => /limit \$\d/.test(statement))
        const { rows } = await client.query(`explain (analyze, format json) ${sql}`, parameters)
        const [{ Plan: plan }] = rows[0]['QUERY PLAN']
        assert.ok(Math.max(...rowsOf(plan)) <= 100, JSON.stringify(plan))
      })
    }

    test('whose last changes are of other days has the hours of today read once', async () => {
      const service = new TestService()
      await service.open(postgres)
      const { organisation, prompt } = await service.tenant()
      const [today, at] = [service.now - (service.now % (24 * hour)), service.now - 240 * hour]
      const read = () => service.store.signals.hourlySumsAround(organisation.id, [{ promptId: prompt.id, at }], 500)
      await read()
      const { statements } = await databaseWorkOf(read)
      assert.equal(statements.length, 1)
      const client = new pg.Client(service.url)
      await client.connect()
      onTestEnd(() => client.end())
      const record = {
        place: 0,
        prompt: prompt.id,
        before_from: today,
        before_until: at,
      }
      const records = JSON.stringify([{ ...record, after_from: today, after_until: Number.MAX_SAFE_INTEGER }])
      const statement = statements[0] as string
      const organisations = Array.from(statement.matchAll(/\$\d/g), () => organisation.id).slice(1)
      const { rows } = await client.query(`explain (analyze, format json) ${statement}`, [...organisations, records])
      const scans = scansOf(rows[0]['QUERY PLAN'][0].Plan, 'signal_hours')
      assert.deepEqual(scans.map((scan) => scan['Actual Loops']).sort(), [0, 1])
    })
  })
