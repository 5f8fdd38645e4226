import assert from 'node:assert/strict'
import { queryRows } from '../../../testing/rows.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'

export async function query(url: string, sql: string): Promise<void> {
  await queryRows(url, sql)
}

export function problemsIn(findings: Finding[]): Record<string, string> {
  return Object.fromEntries(
    findings.filter(({ status }) => status !== 'ok').map(({ check, status }) => [check, status]),
  )
}

/** Asserts that the doctor reports this and nothing else. */
export async function assertFinds(
  { env }: { env: NodeJS.ProcessEnv },
  expected: { check: string; status?: Finding['status']; message: RegExp; fix: RegExp },
  now = Date.now,
): Promise<void> {
  const findings = await doctor(env, now)
  assert.deepEqual(problemsIn(findings), { [expected.check]: expected.status ?? 'error' }, JSON.stringify(findings))
  const finding = findings.find(({ check }) => check === expected.check)
  assert.match(finding?.message ?? '', expected.message)
  assert.match(finding?.fix ?? '', expected.fix)
}
