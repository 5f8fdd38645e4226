import assert from 'node:assert/strict'
import { queryRows } from '../../../testing/rows.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'

export async function query(url: string, sql: string): Promise<void> {
  await queryRows(url, sql)
}

export function statesOf(findings: Finding[]): Record<string, string> {
  return Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => [check, state]))
}

/** Asserts that the doctor reports this and nothing else. */
export async function assertFinds(
  { env }: { env: NodeJS.ProcessEnv },
  expected: { check: string; state?: Finding['state']; found: RegExp; todo: RegExp },
  now = Date.now,
): Promise<void> {
  const findings = await doctor(env, now)
  assert.deepEqual(statesOf(findings), { [expected.check]: expected.state ?? 'wrong' }, JSON.stringify(findings))
  const finding = findings.find(({ check }) => check === expected.check)
  assert.match(finding?.found ?? '', expected.found)
  assert.match(finding?.todo ?? '', expected.todo)
}
