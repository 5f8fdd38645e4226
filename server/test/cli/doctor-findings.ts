import assert from 'node:assert/strict'
import { queryRows } from '../../../testing/rows.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { allocator } from '../../src/service/allocator.ts'

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
  expected: { check: string; status?: Finding['status']; message: RegExp; fix: RegExp; also?: Record<string, string> },
  now = Date.now,
): Promise<void> {
  const findings = await doctor({ ...allocator, ...env }, now)
  const problems = { [expected.check]: expected.status ?? 'error', ...expected.also }
  assert.deepEqual(problemsIn(findings), problems, JSON.stringify(findings))
  const finding = findings.find(({ check }) => check === expected.check)
  assert.match(finding?.message ?? '', expected.message)
  assert.match(finding?.fix ?? '', expected.fix)
}
