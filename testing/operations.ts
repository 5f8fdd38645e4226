import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Access, generateSecret, hashSecret, newApiKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { createInvitation } from '../server/src/domain/access/invitation.ts'
import { sessionIdOf, startSession } from '../server/src/domain/access/session.ts'
import { createShare } from '../server/src/domain/access/share.ts'
import type { RegressionFigures } from '../server/src/domain/regressions/regression.ts'
import type { Delivery } from '../server/src/domain/repositories/delivery.ts'
import {
  type Document,
  type Media,
  type Operation,
  type Response,
  resolve,
} from '../server/src/http/docs/openapi-document.ts'
import { addAlert, addDelivery } from './alerts.ts'
import { GitRepository } from './git-repository.ts'
import { deliveriesFrom } from './payloads/deliveries.ts'
import { connectedScenario, type Scenario } from './scenario.ts'
import type { Tenant, TestService } from './service.ts'
import { addSource, signedHeaders } from './sources.ts'
import { createSigningKey, payloadFor, signPayload } from './vote-tokens.ts'

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  name: string
  path: string
  method: string
  operation: Operation
  success: { status: number; response: Response }
  errors: { status: number; response: Response; example: ErrorBody; isShared: boolean }[]
}

export interface ErrorBody {
  error: { code: string; message: string }
}

export function documentedOperations(document: Document): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const responses = Object.entries(operation.responses).map(([status, given]) => {
        const response = resolve<Response>(document, given)
        const example = exampleOf(response.content) as ErrorBody
        return { status: Number(status), response, example, isShared: '$ref' in given }
      })
      return {
        name: `${method.toUpperCase()} ${path}`,
        path,
        method,
        operation,
        // The last one, because an example signal is a new one: 201 rather than 200.
        success: responses.findLast(({ status }) => status < 300) as DocumentedOperation['success'],
        errors: responses.filter(({ status }) => status >= 400),
      }
    }),
  )
}

export function exampleOf(content: Record<string, Media> | undefined): unknown {
  return Object.values(content ?? {})[0]?.examples?.example_1?.value
}

/** Compiles the schema at a path within the document. */
export function schemaFinder(document: Document): (...steps: string[]) => ValidateFunction {
  // Each schema is used for one or two values, so compiling it is what takes time.
  const quick = { inlineRefs: false, code: { optimize: false } }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, ...quick }).addSchema(document, 'openapi')
  return (...steps) => {
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
    return ajv.compile({ $ref: `openapi#/${pointer.join('/')}` })
  }
}

/** A request as documented, with the resources it refers to. */
export interface PreparedRequest {
  tenant: Tenant
  parameters: Record<string, string | number>
  query: Record<string, string>
  headers: Record<string, string>
  body: unknown
  /** The headers a forge sends with these bytes; none for other operations. */
  sign: (bytes: Buffer) => Record<string, string>
}

const regressionFigures: RegressionFigures = {
  rateBefore: 0.85,
  rateAfter: 0.75,
  difference: -0.1,
  interval: [-0.14, -0.06],
  explanation: 'Fewer votes are positive.',
  evidence: 2.5,
  signalsBefore: 900,
  signalsAfter: 80,
  liveFrom: 4,
}

/** What a request refers to. */
export interface Resources extends Pick<PreparedRequest, 'tenant' | 'parameters' | 'sign'> {
  git: GitRepository | undefined
}

const repositoryPaths = /\{(repository|hook|trial)_id\}|\/trials(\/candidate)?$/
const furtherPaths = [
  repositoryPaths,
  /\/proposals$/,
  /\/(delivery|text)$/,
  /\/trials/,
  /\{shift_id\}/,
  /\{session_id\}/,
]

/** Operations of the same kind need the same resources. */
export function kindOf({ path }: DocumentedOperation): string {
  return furtherPaths.map((pattern) => pattern.test(path)).join()
}

/** Creates new resources for each parameter of the path, so that no example depends on another. */
export async function prepareResources(
  service: TestService,
  { path, operation }: DocumentedOperation,
): Promise<Resources> {
  const needsRepository = repositoryPaths.test(path)
  const ofRepository = needsRepository ? await connectedScenario(service) : null
  const tenant = ofRepository?.tenant ?? (await service.tenant('free', 'admin'))
  const { store, now } = service
  const entry = await tenant.recordEntry({ createdAt: Date.parse('2026-11-14T16:05:00.000Z') })
  const signal = await tenant.signal({ value: 'positive', metadata: { session: 'b7d1' } })
  const { organisation } = tenant
  const terms = {
    organisationId: organisation.id,
    name: 'old',
    role: 'ingest',
    createdAt: now,
    expiresAt: null,
  } as const
  const key = await store.keys.create(newApiKey(generateSecret(), terms), operator)
  await store.regressions.open(tenant.prompt, entry, regressionFigures, now)
  const [regression] = await store.regressions.ofPrompt(tenant.prompt)
  if (path.endsWith('/proposals')) {
    // Opened before, so that no forge is needed.
    const proposal = {
      organisationId: organisation.id,
      promptId: tenant.prompt.id,
      regressionId: regression?.id as number,
    }
    const branch = `promptledger/revert-${regression?.id}-abcdef`
    const facts = {
      repositoryId: 1,
      mode: 'revert',
      files: 'prompt',
      branch,
      proposedBy: 'ada',
      createdAt: now,
    } as const
    const claimed = await store.proposals.claim({ ...proposal, ...facts }, undefined, now)
    const pull = { number: 44, url: 'https://github.com/acme/prompts/pull/44' }
    if (claimed !== null) await store.proposals.opened(claimed, pull, now, undefined)
  }
  // Nothing listens there: a test message is answered with why it was not sent.
  const alert = await addAlert(service, organisation.id, { target: 'http://127.0.0.1:1/' })
  const messageId = await addDelivery(service, alert, { state: 'failed', finished_at: now })
  const { source } = await addSource(service, organisation.id, 'webhook', {
    prompt: tenant.prompt.name,
    fields: { value: '$.rating', subject: '$.message_id' },
  })
  const { share } = await createShare(
    store.shares,
    { prompt: tenant.prompt, regressionId: null, includesSignals: false, expiresAt: null },
    now,
    { keyId: key.id },
  )
  const person = await store.people.add({
    organisationId: organisation.id,
    email: 'ada@example.com',
    name: 'Ada',
    subject: null,
    role: 'viewer',
    roleFrom: 'default',
    createdAt: now,
  })
  const invited = { organisationId: organisation.id, role: 'member', email: null } as const
  const { invitation } = await createInvitation(store.invitations, invited, now, operator)
  if (/\/(delivery|text)$/.test(path)) {
    // Its prompt has no file in git, so the text is given.
    await store.liveTexts.updateSettings(organisation.id, { enabled: true }, now, operator)
    const live = { promptId: tenant.prompt.id, entryId: entry.id, commitSha: entry.commitSha, blob: entry.commitSha }
    await store.liveTexts.replace(organisation.id, [{ ...live, text: 'Answer politely.\n' }], 2 ** 30)
  }
  if (ofRepository !== null && path.includes('/trials')) {
    await store.liveTexts.updateSettings(organisation.id, { enabled: true }, now, operator)
    await service.storeLiveTexts()
    await openPull(ofRepository, 41)
  }
  const parameters: PreparedRequest['parameters'] = {
    prompt_id: tenant.prompt.publicId,
    entry_id: entry.id,
    signal_id: signal.json().data.id,
    key_id: key.id,
    regression_id: regression?.id as number,
    alert_id: alert.publicId,
    share_id: share.id,
    message_id: messageId,
    source_id: source.publicId,
    person_id: person.id,
    invitation_id: invitation.id,
  }
  if (path.includes('{shift_id}')) {
    const shift = { at: now, between: [now, now] as [number, number], rateBefore: 0.9, rateAfter: 0.6, foundAt: now }
    await store.shifts.replace(tenant.prompt, [{ ...shift, entryId: null, sharedWith: null, candidates: null }])
    parameters.shift_id = (await store.shifts.ofPrompt(tenant.prompt))[0]?.id as string
  }
  if (path.includes('{session_id}')) {
    const ours = (await store.keys.findAccess(hashSecret(tenant.key))) as Access
    const { token } = await startSession(store.sessions, ours, { endsBy: null }, now)
    parameters.session_id = sessionIdOf(token)
  }
  let sign: PreparedRequest['sign'] = () => ({})
  if (operation.operationId === 'receiveEvents') sign = (bytes) => signedHeaders('webhook', bytes, now)
  if (ofRepository !== null) {
    const { repository, forge, secret } = ofRepository
    if (path.includes('{trial_id}')) {
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/trials',
        headers: tenant.headers,
        payload: { pull: 41, share: 0.1 },
      })
      parameters.trial_id = response.json().data.id
    }
    await ofRepository.deliver(forge.ping())
    const [delivery] = (await store.deliveries.list(repository, 1)) as [Delivery]
    Object.assign(parameters, { repository_id: repository.id, delivery_id: delivery.id, hook_id: repository.hookId })
    if (path.startsWith('/webhooks/')) sign = (bytes) => deliveriesFrom('github', secret).signed('ping', bytes).headers
  }
  return { tenant, parameters, sign, git: ofRepository?.git }
}

/** The request of the documented example, for new resources unless some are given. */
export async function prepareRequest(
  service: TestService,
  documented: DocumentedOperation,
  resources?: Resources,
): Promise<PreparedRequest> {
  const { tenant, parameters, sign, git } = resources ?? (await prepareResources(service, documented))
  const { operation } = documented
  const body = exampleOf(operation.requestBody?.content)
  const given = (place: string) =>
    (operation.parameters ?? [])
      .filter((parameter) => parameter.in === place && parameter.schema.examples !== undefined)
      .map(({ name, schema }) => [name, String(schema.examples?.[0])])
  return {
    tenant,
    parameters,
    query: Object.fromEntries(given('query')),
    headers: {
      ...tenant.headers,
      ...Object.fromEntries(given('header')),
      ...sign(Buffer.from(JSON.stringify(body) ?? '')),
    },
    body:
      operation.operationId === 'createVote'
        ? await withToken(service, tenant, body)
        : withLocalUrl(operation.operationId, body, git),
    sign,
  }
}

/** The same body with a token of the tenant. */
async function withToken(service: TestService, tenant: Tenant, body: unknown): Promise<object> {
  const { secret } = await createSigningKey(service, tenant)
  return { ...(body as object), token: signPayload(secret, payloadFor(secret, tenant, service.now)) }
}

/** The same body with the URL of a local repository: tests contact no forge. */
function withLocalUrl(operationId: string, body: unknown, connected: GitRepository | undefined): unknown {
  if (operationId === 'connectRepository') return { ...(body as object), url: createRepository().remote }
  // Another spelling of the URL, because one that does not change anything is no example.
  return operationId === 'updateRepository' ? { ...(body as object), url: `${connected?.remote}/` } : body
}

/** A pull request of a branch of the repository that changes the first prompt. */
export async function openPull(scenario: Scenario, number: number, text = 'Be very kind.\n'): Promise<string> {
  const { git, forge } = scenario
  git.switchTo(`pull-${number}`, 'main')
  git.commit(`Change ${number}`, { 'prompts/p.md': text })
  const head = git.head()
  git.push(`pull-${number}:refs/pull/${number}/head`, `pull-${number}:pull-${number}`)
  git.switchTo('main')
  await scenario.deliver(forge.pull({ action: 'opened', number, head, openedAt: '2026-11-02T10:00:00Z' }))
  return head
}

function createRepository(): GitRepository {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/support.md': 'Be kind.\n' })
  git.push()
  return git
}

export function sendRequest(
  service: TestService,
  { path, method }: DocumentedOperation,
  { parameters, query, headers, body }: Omit<PreparedRequest, 'tenant' | 'sign'>,
): Promise<LightMyRequestResponse> {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => String(parameters[name]))
  return service.app.inject({
    method: method.toUpperCase() as NonNullable<InjectOptions['method']>,
    url,
    query,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  })
}
