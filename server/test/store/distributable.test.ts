import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUndistributable } from '../../../testing/distributable.ts'
import { isCitus, onPostgres } from '../../../testing/engines.ts'
import {
  createRecordFunction,
  distributedStatement,
  recordFunction,
} from '../../src/store/postgres/distributed-record.ts'
import { distributedTables } from '../../src/store/postgres/distributed-tables.ts'
import { changedRows } from '../../src/store/sql/signal-changes.ts'

const call = distributedStatement(changedRows([], 0)).sql
const create = createRecordFunction([
  { id: 2, tables: Object.fromEntries(distributedTables.map((name) => [name, name])) },
])
const sums = (organisation: string) => `select (select sum(positive) from hour_sums
  where organisation_id = ${organisation} and prompt_id = records.prompt) from json_to_recordset($2) as records(prompt bigint, organisation bigint)`

// `npm test` applies the same rule to every statement that a test sends (testing/full.ts).
if (!isCitus)
  onPostgres('Statements that Citus runs on the worker of an organisation', () => {
    test('call the function and nothing else, compare no variable by case, and name the organisation as a parameter', async () => {
      const alone =
        'insert into judge_queue (organisation_id, prompt_id) select organisation_id, prompt_id from signal_hours group by 1, 2 order by 1, 2'
      assert.deepEqual(await findUndistributable([call, create, sums('$1'), alone]), [])
      const broken = [
        `select organisation from json_to_recordset((${call})) as granted (organisation bigint)`,
        create.replace('case when r.is_positive = 1', 'case r.is_positive when 1'),
        sums('records.organisation'),
        'select 1 from idempotency_keys join signals on signal_id = id where key = $1',
      ]
      assert.notEqual(broken[1], create)
      const problems = await findUndistributable(broken)
      assert.deepEqual(
        problems.map((problem) => problem.split(':')[0]),
        [
          'is more than the call',
          'compares a variable by case',
          'reads signal_hours of all organisations',
          'reads signals of all organisations',
        ],
      )
      assert.ok(call.includes(recordFunction.name))
    })
  })
