import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { databaseWorkOf } from '../../../testing/database-work.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { hour } from '../../src/domain/time.ts'

interface Node {
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
  })
