import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  type DocumentedOperation,
  documentedOperations,
  kindOf,
  type PreparedRequest,
  prepareRequest,
  prepareResources,
  type Resources,
  sendRequest,
} from '../../../testing/operations.ts'
import { allRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { generateSecret, type Role, requestRoles } from '../../src/domain/access/api-key.ts'

/** The roles that each operation accepts. A new operation must be added here before the tests pass. */
const signalSenders: Role[] = ['ingest', 'standard', 'admin']
const readers: Role[] = ['reader', 'standard', 'deploy', 'admin']
const deliverers: Role[] = ['delivery', ...readers]
const admins: Role[] = ['admin']
const acceptedRoles: Record<string, Role[]> = {
  createSignal: signalSenders,
  createSignals: signalSenders,
  exportSignals: readers,
  exportTimeline: readers,
  findHistoryEntry: readers,
  getBlame: readers,
  getHistoryEntry: readers,
  getLive: readers,
  getOrganisation: readers,
  getPrompt: readers,
  getPromptSegments: readers,
  getRegression: readers,
  getShift: readers,
  getSegments: readers,
  getSession: readers,
  getTimelineEntry: readers,
  getUsage: readers,
  getDelivery: deliverers,
  getPromptText: deliverers,
  getDeliverySettings: ['admin'],
  updateDeliverySettings: ['admin'],
  startTrial: ['deploy', 'admin'],
  updateTrial: ['deploy', 'admin'],
  listTrials: readers,
  getTrial: readers,
  getTrialCandidate: ['deploy', 'admin'],
  getEvaluationRules: readers,
  setEvaluationRules: ['admin'],
  listTelemetry: readers,
  recordExposures: ['delivery', 'standard', 'deploy', 'admin'],
  listHistory: deliverers,
  listImpact: readers,
  listPromptDeployments: readers,
  listPromptRegressions: readers,
  listPromptShifts: readers,
  listPrompts: readers,
  listRegressions: readers,
  listRepositoryDeployments: readers,
  listShifts: readers,
  listSignals: readers,
  listTimeline: readers,
  listVersions: readers,
  searchTexts: readers,
  createShare: ['standard', 'admin'],
  listPromptShares: ['standard', 'admin'],
  listShares: ['standard', 'admin'],
  revokeShare: ['standard', 'admin'],
  dismissRegression: ['standard', 'admin'],
  updateRegression: ['standard', 'deploy', 'admin'],
  dismissShift: ['standard', 'admin'],
  updateShift: ['standard', 'deploy', 'admin'],
  proposeRevert: ['standard', 'deploy', 'admin'],
  retractSignal: ['standard', 'admin'],
  endSession: readers,
  listPeople: readers,
  listSessions: readers,
  signIn: readers,
  signOut: readers,
  summariseSignals: readers,
  addAlert: admins,
  addSource: admins,
  checkSignIn: admins,
  connectRepository: admins,
  createInvitation: admins,
  createKey: admins,
  createPrompt: admins,
  declarePromptSegments: admins,
  declareSegments: admins,
  deletePrompt: admins,
  disconnectRepository: admins,
  eraseSignals: admins,
  getAlert: admins,
  getSource: admins,
  getRepository: admins,
  listAlertDeliveries: admins,
  listAlerts: admins,
  listAudit: admins,
  listDeliveries: admins,
  listDeliveriesOfAlert: admins,
  listInvitations: admins,
  listKeys: admins,
  listRepositories: admins,
  listSources: admins,
  previewErasure: admins,
  recordHistory: ['recorder', 'admin'],
  recordPromptDeployment: ['recorder', 'deploy', 'admin'],
  recordRepositoryDeployment: ['recorder', 'deploy', 'admin'],
  redeliver: admins,
  removeAlert: admins,
  removeSource: admins,
  renameOrganisation: admins,
  renamePrompt: admins,
  retryAlertDelivery: admins,
  revokeInvitation: admins,
  revokeKey: admins,
  rotateAlertSecret: admins,
  rotateKey: admins,
  rotateRepositorySecret: admins,
  syncRepository: admins,
  testAlert: admins,
  updateAlert: admins,
  updatePerson: admins,
  deletePerson: admins,
  updateRepository: admins,
  updateSource: admins,
}

/** Operations that need no key. A vote has a token instead, and events a signature: see page-votes.test.ts and sources.test.ts. */
const unauthenticated = [
  'createVote',
  'getHealth',
  'getOpenApi',
  'getReadiness',
  'getReference',
  'receiveDelivery',
  'receiveEvents',
]

/** Well-formed IDs that belong to no organisation. */
const unknownIds: PreparedRequest['parameters'] = {
  prompt_id: `pmt_${'0'.repeat(24)}`,
  entry_id: 987654321,
  signal_id: 987654321,
  key_id: 987654321,
  repository_id: 987654321,
  delivery_id: 987654321,
  regression_id: 987654321,
  shift_id: `shf_${'0'.repeat(24)}`,
  share_id: 987654321,
  person_id: 987654321,
  invitation_id: 987654321,
  session_id: '0'.repeat(32),
  alert_id: `alr_${'0'.repeat(24)}`,
  trial_id: `trl_${'0'.repeat(24)}`,
  message_id: `msg_${'0'.repeat(24)}`,
  source_id: `src_${'0'.repeat(24)}`,
}

interface Ours {
  resources: Resources
  /** A session of the organisation. */
  cookie: string
  keys: Record<Role, string>
}

interface Case extends Pick<Ours, 'cookie' | 'keys'> {
  documented: DocumentedOperation
  /** The path parameters, in order. */
  pathParameters: string[]
  ours: PreparedRequest
  /** The same request for another organisation, if the path has parameters. */
  theirs: PreparedRequest | null
}

onOneEngine('Access control', (engine) => {
  const service = useService(engine)
  let operations: DocumentedOperation[]
  let cases: Case[]
  before(async () => {
    operations = documentedOperations((await service.app.inject('/openapi.json')).json())
    cases = []
    const needsKey = ({ path, operation }: DocumentedOperation) =>
      path.startsWith('/api/v1/') && !unauthenticated.includes(operation.operationId)
    for (const documented of operations.filter(needsKey)) cases.push(await createCase(documented))
  })

  /** Our organisations. No request changes them, so operations of one kind share one. */
  const ourOrganisations = new Map<string, Promise<Ours>>()

  async function createOurs(documented: DocumentedOperation): Promise<Ours> {
    const resources = await prepareResources(service, documented)
    const { organisation, headers } = resources.tenant
    const signedIn = await service.app.inject({ method: 'POST', url: '/api/v1/session', headers })
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    const keys = Object.fromEntries(
      await Promise.all(requestRoles.map(async (role) => [role, await service.key(organisation, role)])),
    )
    return { resources, cookie, keys }
  }

  async function createCase(documented: DocumentedOperation): Promise<Case> {
    const kind = kindOf(documented)
    if (!ourOrganisations.has(kind)) ourOrganisations.set(kind, createOurs(documented))
    const { resources, cookie, keys } = (await ourOrganisations.get(kind)) as Ours
    const pathParameters = [...documented.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
    const ours = await prepareRequest(service, documented, resources)
    const theirs = pathParameters.length === 0 ? null : await prepareRequest(service, documented)
    return { documented, pathParameters, ours, theirs, cookie, keys }
  }

  function sendAs({ documented, ours }: Case, headers: Record<string, string>): Promise<LightMyRequestResponse> {
    const { authorization: _, ...others } = ours.headers
    return sendRequest(service, documented, { ...ours, headers: { ...others, ...headers } })
  }

  /** Runs `attempt` for each case and checks that together they changed nothing in the database. */
  async function assertNothingChanges(
    t: TestContext,
    cases: Case[],
    attempt: (each: Case) => Promise<void>,
  ): Promise<void> {
    const state = await allRows(service.url)
    for (const each of cases) await t.test(each.documented.name, () => attempt(each))
    assert.deepEqual(await allRows(service.url), state, 'a rejected request changed the database')
  }

  test('every operation in the OpenAPI document has a known list of roles', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids.sort(), [...Object.keys(acceptedRoles), ...unauthenticated].sort())
    assert.deepEqual(
      cases.map(({ documented }) => documented.operation.operationId).sort(),
      Object.keys(acceptedRoles).sort(),
    )
  })

  test('every operation is rejected without a key, with an unknown key and with any other role', async (t) => {
    await assertNothingChanges(t, cases, async (each) => {
      const accepted = acceptedRoles[each.documented.operation.operationId] as Role[]
      assertError(await sendAs(each, {}), 401, 'unauthorized')
      assertError(await sendAs(each, { authorization: `Bearer ${generateSecret()}` }), 401, 'unauthorized')
      for (const role of requestRoles.filter((role) => !accepted.includes(role))) {
        assertError(await sendAs(each, { authorization: `Bearer ${each.keys[role]}` }), 403, 'forbidden')
      }
    })
  })

  test('an ID of another organisation gets the same 404 as an unknown ID, and changes nothing', async (t) => {
    const withIds = cases.filter(({ pathParameters }) => pathParameters.length > 0)
    await assertNothingChanges(t, withIds, async ({ documented, pathParameters, ours, theirs }) => {
      const [first, second] = pathParameters as [string, string | undefined]
      const choices = second === undefined ? [[first]] : [[first], [second], [first, second]]
      for (const replaced of choices) {
        const sendWithIdsOf = (parameters: PreparedRequest['parameters']) => {
          const ids = Object.fromEntries(replaced.map((name) => [name, parameters[name] as string | number]))
          return sendRequest(service, documented, { ...ours, parameters: { ...ours.parameters, ...ids } })
        }
        const [foreign, unknown] = [
          await sendWithIdsOf((theirs as PreparedRequest).parameters),
          await sendWithIdsOf(unknownIds),
        ]
        assert.equal(foreign.statusCode, 404, `${replaced}: ${foreign.body}`)
        assert.equal(foreign.body, unknown.body)
        assert.deepEqual(comparableHeaders(foreign), comparableHeaders(unknown))
      }
    })
  })

  test('every operation that changes something is rejected when another site uses the session', async (t) => {
    const changing = cases.filter(({ documented }) => documented.method !== 'get')
    await assertNothingChanges(t, changing, async (each) => {
      const { cookie } = each
      assertError(await sendAs(each, { cookie, origin: 'https://evil.example' }), 403, 'forbidden')
      assertError(await sendAs(each, { cookie, 'sec-fetch-site': 'same-site' }), 403, 'forbidden')
    })
  })

  test('every operation works for its own organisation and does not affect another', async (t) => {
    const lists = cases.filter(
      ({ documented, pathParameters }) => documented.method === 'get' && pathParameters.length === 0,
    )
    const ourLists = () =>
      Promise.all(lists.map(async (each) => (await sendRequest(service, each.documented, each.ours)).body))
    const before = await ourLists()
    for (const each of cases.filter((each) => !lists.includes(each))) {
      const { documented } = each
      await t.test(documented.name, async () => {
        const theirs = each.theirs ?? (await prepareRequest(service, documented))
        const accepted = acceptedRoles[documented.operation.operationId] as Role[]
        // Others end their own sessions only: people.test.ts.
        const tried = documented.operation.operationId === 'endSession' ? admins : accepted
        for (const [i, role] of tried.entries()) {
          // Reading leaves it as it was. Except that preparing a trial, which reads git for all, removes a text that is not from git.
          const isKept = documented.operation.operationId !== 'getPromptText'
          const isFresh = i === 0 || documented.method === 'get'
          const request = isFresh && isKept ? theirs : await prepareRequest(service, documented)
          const key = await service.key(request.tenant.organisation, role)
          const headers = { ...request.headers, authorization: `Bearer ${key}` }
          const response = await sendRequest(service, documented, { ...request, headers })
          assert.equal(response.statusCode, documented.success.status, `${role}: ${response.body}`)
        }
      })
    }
    assert.deepEqual(await ourLists(), before)
  })
})

function comparableHeaders({ headers }: LightMyRequestResponse): object {
  const { 'x-request-id': _id, date: _date, ...others } = headers
  return others
}
