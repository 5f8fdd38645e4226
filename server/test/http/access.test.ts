import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { onEachEngine } from '../../../testing/engines.ts'
import { type Documented, operationsOf, type Prepared, prepare, send } from '../../../testing/operations.ts'
import { everyRow } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { newSecret, type Role } from '../../src/domain/access/api-key.ts'

const roles: Role[] = ['ingest', 'standard', 'admin']

/** The least that a key has to be for each operation: a new one has to be put here before it passes. */
const leastRole: Record<string, Role> = {
  createSignal: 'ingest',
  exportSignals: 'standard',
  getHistoryEntry: 'standard',
  getLive: 'standard',
  getPrompt: 'standard',
  getSession: 'standard',
  getUsage: 'standard',
  listHistory: 'standard',
  listImpact: 'standard',
  listPrompts: 'standard',
  listSignals: 'standard',
  listTimeline: 'standard',
  retractSignal: 'standard',
  signIn: 'standard',
  signOut: 'standard',
  summariseSignals: 'standard',
  connectRepository: 'admin',
  createKey: 'admin',
  createPrompt: 'admin',
  deletePrompt: 'admin',
  disconnectRepository: 'admin',
  eraseSignals: 'admin',
  getRepository: 'admin',
  listAudit: 'admin',
  listDeliveries: 'admin',
  listKeys: 'admin',
  listRepositories: 'admin',
  recordHistory: 'admin',
  redeliver: 'admin',
  renamePrompt: 'admin',
  revokeKey: 'admin',
  rotateKey: 'admin',
  rotateRepositorySecret: 'admin',
  syncRepository: 'admin',
}

/** What needs no key. */
const open = ['getHealth', 'getOpenApi', 'getReadiness', 'getReference', 'receiveDelivery']

/** Of the right shape, and of nobody. */
const unknown: Prepared['parameters'] = {
  prompt_id: `pmt_${'0'.repeat(24)}`,
  entry_id: 987654321,
  signal_id: 987654321,
  key_id: 987654321,
  repository_id: 987654321,
  delivery_id: 987654321,
}

interface Case {
  documented: Documented
  /** What the path names, in its order. */
  names: string[]
  ours: Prepared
  /** The same of another organisation, where something is named. */
  theirs: Prepared | null
  /** A session of ours. */
  cookie: string
  keys: Record<Role, string>
}

onEachEngine('Each operation of the document', (engine) => {
  const service = useService(engine)
  let all: Documented[]
  let cases: Case[]
  before(async () => {
    all = operationsOf((await service.app.inject('/openapi.json')).json())
    cases = []
    for (const documented of all.filter(({ path }) => path.startsWith('/api/v1/')))
      cases.push(await newCase(documented))
  })

  async function newCase(documented: Documented): Promise<Case> {
    const names = [...documented.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
    const ours = await prepare(service, documented)
    const theirs = names.length === 0 ? null : await prepare(service, documented)
    const { organisation, headers } = ours.tenant
    const signedIn = await service.app.inject({ method: 'POST', url: '/api/v1/session', headers })
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    const keys = Object.fromEntries(
      await Promise.all(roles.map(async (role) => [role, await service.key(organisation, role)])),
    )
    return { documented, names, ours, theirs, cookie, keys }
  }

  function sendAs({ documented, ours }: Case, headers: Record<string, string>): Promise<LightMyRequestResponse> {
    const { authorization: _, ...others } = ours.headers
    return send(service, documented, { ...ours, headers: { ...others, ...headers } })
  }

  /** Does for each operation what must be refused, and sees that all of it left nothing behind. */
  async function inVain(context: TestContext, chosen: Case[], work: (given: Case) => Promise<void>): Promise<void> {
    const state = await everyRow(service.url)
    for (const given of chosen) await context.test(given.documented.name, () => work(given))
    assert.deepEqual(await everyRow(service.url), state, 'it was refused, but something changed')
  }

  function assertRefused(response: LightMyRequestResponse, status: number, code: string): void {
    assert.deepEqual([response.statusCode, response.json().error.code], [status, code])
  }

  test('is known to these tests, with who may do it', () => {
    const ids = all.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids.sort(), [...Object.keys(leastRole), ...open].sort())
    assert.deepEqual(
      cases.map(({ documented }) => documented.operation.operationId).sort(),
      Object.keys(leastRole).sort(),
    )
  })

  test('is refused without a key, with a wrong one and with too low a role', async (context) => {
    await inVain(context, cases, async (given) => {
      const least = roles.indexOf(leastRole[given.documented.operation.operationId] as Role)
      assertRefused(await sendAs(given, {}), 401, 'unauthorized')
      assertRefused(await sendAs(given, { authorization: `Bearer ${newSecret()}` }), 401, 'unauthorized')
      for (const role of roles.slice(0, least)) {
        assertRefused(await sendAs(given, { authorization: `Bearer ${given.keys[role]}` }), 403, 'forbidden')
      }
    })
  })

  test('with any id of another organisation answers as if there were no such thing, and changes nothing', async (context) => {
    const named = cases.filter(({ names }) => names.length > 0)
    await inVain(context, named, async ({ documented, names, ours, theirs }) => {
      const [first, second] = names as [string, string | undefined]
      const choices = second === undefined ? [[first]] : [[first], [second], [first, second]]
      for (const chosen of choices) {
        const sendIdsOf = (parameters: Prepared['parameters']) => {
          const taken = Object.fromEntries(chosen.map((name) => [name, parameters[name] as string | number]))
          return send(service, documented, { ...ours, parameters: { ...ours.parameters, ...taken } })
        }
        const [found, none] = [await sendIdsOf((theirs as Prepared).parameters), await sendIdsOf(unknown)]
        assert.equal(found.statusCode, 404, `${chosen}: ${found.body}`)
        assert.equal(found.body, none.body)
        assert.deepEqual(comparable(found), comparable(none))
      }
    })
  })

  test('that changes something is refused in a session when another site asks for it', async (context) => {
    const changing = cases.filter(({ documented }) => documented.method !== 'get')
    await inVain(context, changing, async (given) => {
      const { cookie } = given
      assertRefused(await sendAs(given, { cookie, origin: 'https://evil.example' }), 403, 'forbidden')
      assertRefused(await sendAs(given, { cookie, 'sec-fetch-site': 'same-site' }), 403, 'forbidden')
    })
  })

  test('does for its own organisation what it should, and the answers of others stay the same', async (context) => {
    const lists = cases.filter(({ documented, names }) => documented.method === 'get' && names.length === 0)
    const answers = () =>
      Promise.all(lists.map(async (given) => (await send(service, given.documented, given.ours)).body))
    const earlier = await answers()
    for (const given of cases.filter((given) => !lists.includes(given))) {
      const { documented } = given
      await context.test(documented.name, async () => {
        const theirs = given.theirs ?? (await prepare(service, documented))
        const least = leastRole[documented.operation.operationId] as Role
        const key = await service.key(theirs.tenant.organisation, least)
        const headers = { ...theirs.headers, authorization: `Bearer ${key}` }
        const response = await send(service, documented, { ...theirs, headers })
        assert.equal(response.statusCode, documented.success.status, response.body)
      })
    }
    assert.deepEqual(await answers(), earlier)
  })
})

function comparable({ headers }: LightMyRequestResponse): object {
  const { 'x-request-id': _id, date: _date, ...others } = headers
  return others
}
