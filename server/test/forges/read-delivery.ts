import assert from 'node:assert/strict'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { Delivery, ForgeName, PullFacts } from '../../../testing/payloads/facts.ts'
import type { PullReport } from '../../src/domain/history/pull.ts'
import type { PushReport, Report } from '../../src/domain/history/report.ts'
import { forgeOf } from '../../src/forges/index.ts'

export const secret = 'It is a secret to everybody'
export const now = Date.UTC(2026, 2, 2, 12)
export const before = '1'.repeat(40)
export const after = '2'.repeat(40)
export const head = '3'.repeat(40)
export const merge = '4'.repeat(40)
export const openedAt = '2026-02-01T08:00:00Z'
export const at = '2026-02-03T10:30:00Z'

export function readDelivery(name: ForgeName, { headers, body }: Delivery): Report {
  const forge = forgeOf(name)
  return forge.readBody(forge.readHeaders(headers).event, body.toString(), now)
}

export function onlyPush(report: Report): PushReport {
  assert.equal(report.events.length, 1)
  assert.equal(report.events[0]?.type, 'push')
  return report.events[0] as PushReport
}

export function onlyPull(report: Report): PullReport {
  assert.equal(report.events.length, 1)
  assert.equal(report.events[0]?.type, 'pull')
  return report.events[0] as PullReport
}

export type PullChanges = Partial<PullFacts> & { action: PullFacts['action'] }

/** The report of a delivery about pull request 12. */
export function readPull(name: ForgeName, facts: PullChanges): PullReport {
  return onlyPull(readDelivery(name, pullDelivery(name, facts)))
}

export function pullDelivery(name: ForgeName, facts: PullChanges): Delivery {
  return deliveriesFrom(name, secret).pull({ number: 12, head, openedAt, at, ...facts })
}

/** The report of a closed pull request 12 with other values at these paths. */
export function readClosedPull(name: ForgeName, values: Record<string, unknown> = {}): PullReport {
  return onlyPull(readDelivery(name, withValues(pullDelivery(name, { action: 'closed' }), values)))
}

/** The same delivery with other values at these paths. Undefined deletes a field. */
export function withValues(delivery: Delivery, values: Record<string, unknown>): Delivery {
  const body = JSON.parse(delivery.body.toString())
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.')
    const last = names.pop() as string
    const parent = names.reduce((object, name) => object[name], body)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return { headers: delivery.headers, body: Buffer.from(JSON.stringify(body)) }
}
