import assert from 'node:assert/strict'
import type { Query } from '../request.ts'
import {
  type Action,
  admins,
  type Draw,
  firstKey,
  type Run,
  readers,
  someId,
  someKey,
  someOrganisation,
  somePromptId,
  someTime,
} from '../run.ts'
import { existingPrompts, iso } from '../state.ts'

/** The values of a query parameter; some are malformed. */
type Values = readonly string[] | typeof someTime

const pages: Record<string, Values> = {
  page: ['1', '2', '3', '4', '7', '30', '0', '-1', '1.5', 'last', '02', '123456'],
  limit: ['1', '2', '5', '10', '100', '101', '1000', '0', 'all', '3.5'],
}
const range: Record<string, Values> = { since: someTime, until: someTime }
const values = ['positive', 'negative', 'negative', 'both']

/** Each parameter is present half of the time. */
function someQuery(run: Run, draw: Draw, parameters: Record<string, Values>): Query {
  const present = Object.entries(parameters).filter(() => draw.chance(0.5))
  return Object.fromEntries(
    present.map(([name, from]) => [name, typeof from === 'function' ? from(run, draw) : draw.one(from)]),
  )
}

function read(path: string, parameters: Record<string, Values> = {}, roles = admins): Action {
  return async (run, draw) => {
    const key = someKey(run, draw, someOrganisation(run, draw), roles)
    await run.send({ method: 'GET', path, query: someQuery(run, draw, parameters), key })
  }
}

function readPrompt(part: string, parameters: Record<string, Values> = {}): Action {
  return async (run, draw) => {
    const organisation = someOrganisation(run, draw)
    const path = `/prompts/${somePromptId(run, draw, organisation)}${part}`
    const key = someKey(run, draw, organisation, readers)
    await run.send({ method: 'GET', path, query: someQuery(run, draw, parameters), key })
  }
}

/** With the key that recorded it. */
const readEntry: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { id, entries } = draw.one(existingPrompts(organisation))
  const path = `/prompts/${id}/history/${someId(draw, entries)}`
  await run.send({ method: 'GET', path, key: someKey(run, draw, organisation, readers) })
}

const auditActions = ['key.rejected', 'session.started', 'history.recorded', 'signals.exported', 'key.created', 'all']

export const reads: Record<string, [weight: number, Action]> = {
  'read history': [70, readPrompt('/history', pages)],
  'read signals': [80, readPrompt('/signals', { ...pages, ...range, value: values })],
  'read signals of a version': [20, readPrompt('/signals', { ...pages, version: ['c0ffee1', '770000'] })],
  'read deployments': [20, readPrompt('/deployments', pages)],
  'export signals': [10, readPrompt('/signals/export', { ...range, value: values })],
  'read summary': [
    40,
    readPrompt('/signals/summary', { from: someTime, to: someTime, interval: ['hour', 'day', 'week', 'year'] }),
  ],
  'read impact': [40, readPrompt('/impact', pages)],
  'read entry': [20, readEntry],
  'read prompts': [20, read('/prompts', { ...pages, q: ['prompts', 'A.MD', 'none'] }, readers)],
  'read prompt': [20, readPrompt('')],
  'read usage': [40, read('/usage', {}, readers)],
  'read keys': [30, read('/keys', pages)],
  'read audit': [40, read('/audit', { ...pages, ...range, action: auditActions })],
  'read nothing': [5, read('/prompts/x/y/z')],
}

/** Reads everything and verifies the audit chains, at the end of a run. */
export async function readEverything(run: Run, since: number): Promise<void> {
  for (const organisation of run.model.organisations) {
    const get = (path: string, query: Query) => run.send({ method: 'GET', path, query, key: firstKey(organisation) })
    for (const path of ['/usage', '/keys', '/prompts', '/audit']) await get(path, { limit: '100' })
    for (const { id } of existingPrompts(organisation)) {
      for (const part of ['signals', 'signals/export', 'history', 'impact', 'deployments']) {
        await get(`/prompts/${id}/${part}`, {})
      }
      const to = iso(run.service.now + 1)
      await get(`/prompts/${id}/signals/summary`, { from: iso(since), to, interval: 'day' })
    }
    const last = organisation.audit.at(-1)
    const chain = await run.service.store.audit.verify(organisation.id)
    assert.deepEqual(chain, { entries: last?.seq, hash: last?.hash, brokenAt: null, unchained: 0 })
  }
}
