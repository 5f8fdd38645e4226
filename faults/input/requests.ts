import fc, { type Arbitrary } from 'fast-check'
import type { Document, Schema } from '../../server/src/http/docs/openapi-document.ts'
import { changes, percent, segments } from './changes.ts'
import type { Documented } from './shapes.ts'
import { valuesOf } from './values.ts'
import type { Who, World } from './world.ts'

/** A request that is made up, part by part. */
export interface Draft {
  kind: 'valid' | 'nearly valid' | 'wrong' | 'odd id'
  /** What it was made from. */
  documented: Documented
  who: Who | 'session' | 'nobody'
  method: string
  /** By name, as they stand in the path. Those that are not there are what may be deleted, once it is sent. */
  parameters: Record<string, string>
  /** In place of the path, where it is quite another. */
  path: string | null
  query: string
  headers: [string, string][]
  body: Buffer | null
}

/** A request as it goes over the wire. Beyond ASCII the text has a character for each byte. */
export interface Sendable {
  method: string
  target: string
  promptId: string
  /** What the answer has to be called. */
  requestId: string | null
  bytes: Buffer
  /** Whether it may be no proper HTTP: bytes that have to be encoded, or more than fits. */
  doubtful: boolean
}

// Of these fewer: what they make stays, each waits for the disk by itself, or has a long answer.
const rare = [
  'createKey rotateKey revokeKey createPrompt renamePrompt deletePrompt recordHistory signIn signOut eraseSignals',
  'retractSignal rotateRepositorySecret disconnectRepository exportSignals summariseSignals getReference getOpenApi getReadiness',
].flatMap((names) => names.split(' '))
// And still fewer of what starts git.
const rarest = ['connectRepository', 'syncRepository', 'redeliver', 'receiveDelivery']

function weightOf({ operation: { operationId } }: Documented): number {
  if (rarest.includes(operationId)) return 1
  return rare.includes(operationId) ? 3 : 60
}

/** Requests of all operations: some right, some with one thing wrong, some with several. */
export function drafts(document: Document, operations: Documented[], world: World): Arbitrary<Draft> {
  const valid = fc.oneof(
    ...operations.map((documented) => ({
      weight: weightOf(documented),
      arbitrary: validDrafts(document, documented, world),
    })),
  )
  const change = changes()
  return fc.oneof(
    valid,
    fc.tuple(valid, change).map(([draft, apply]) => ({ ...apply(draft), kind: 'nearly valid' as const })),
    fc
      .tuple(valid, fc.array(change, { minLength: 2, maxLength: 5 }))
      .map(([draft, all]) => ({ ...all.reduce((changed, apply) => apply(changed), draft), kind: 'wrong' as const })),
  )
}

/** Requests for prompts by ids that nobody has. */
export function oddIds(operations: Documented[]): Arbitrary<Draft> {
  const ofPrompts = operations.filter(({ path }) => path.includes('{prompt_id}'))
  const ids = fc.oneof(
    segments,
    segments.map((text) => `pmt_${text}`),
  )
  return fc.tuple(fc.constantFrom(...ofPrompts), ids, whos).map(([documented, id, who]) => ({
    ...bare(documented),
    kind: 'odd id',
    who,
    parameters: { prompt_id: id, entry_id: '1', signal_id: '1' },
    headers: [['Content-Type', 'application/json']],
    body: documented.operation.requestBody === undefined ? null : Buffer.from('{"value":"positive","name":"x"}'),
  }))
}

const whos: Arbitrary<Draft['who']> = fc.oneof(
  { weight: 10, arbitrary: fc.constant('admin' as const) },
  { weight: 3, arbitrary: fc.constantFrom('scarce' as const, 'standard' as const, 'session' as const) },
  { weight: 1, arbitrary: fc.constant('ingest' as const) },
)

function bare(documented: Documented): Draft {
  const { method } = documented
  return {
    kind: 'valid',
    documented,
    who: 'admin',
    method,
    parameters: {},
    path: null,
    query: '',
    headers: [],
    body: null,
  }
}

function validDrafts(document: Document, documented: Documented, world: World): Arbitrary<Draft> {
  const { parameters = [], requestBody } = documented.operation
  const given = (place: string) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, schema }) => [name, parameterValues(document, name, schema)]),
      ),
      { requiredKeys: [] },
    )
  const media = requestBody?.content['application/json']
  const example = media?.examples?.example_1?.value as object | undefined
  const bodies =
    media === undefined
      ? fc.constant(null)
      : fc
          .tuple(valuesOf(document, media.schema), fc.boolean())
          .map(([value, asShown]) => ({ ...example, ...(asShown ? within(example, world) : (value as object)) }))
  return fc
    .record({
      who: whos,
      place: fc.nat(),
      path: pathParameters(documented, world),
      query: given('query'),
      headers: given('header'),
      body: bodies,
    })
    .map(({ who, place, path, query, headers, body }) => {
      const { prompts } = who === 'scarce' ? world.scarce : world.ample
      const prompt = deletes(documented) ? {} : { prompt_id: prompts[place % prompts.length] as string }
      return {
        ...bare(documented),
        who,
        parameters: { ...prompt, ...path },
        query: Object.entries(query)
          .map(([name, value]) => `${name}=${percent(String(value))}`)
          .join('&'),
        headers: [
          ...Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
          ...(body === null ? [] : [['Content-Type', 'application/json'] as [string, string]]),
        ],
        body: body === null ? null : Buffer.from(JSON.stringify(body)),
      }
    })
}

/** The documented example of a repository lies elsewhere. */
function within(example: object | undefined, { repository }: World): object {
  return example !== undefined && 'url' in example ? { url: repository, token: null } : {}
}

function deletes({ operation: { operationId } }: Documented): boolean {
  return operationId === 'deletePrompt' || operationId === 'retractSignal'
}

function pathParameters(
  { operation: { operationId } }: Documented,
  { repositories, hook }: World,
): Arbitrary<Record<string, string>> {
  const changesIt = operationId === 'disconnectRepository' || operationId === 'rotateRepositorySecret'
  const numbers = fc.integer({ min: 1, max: 50 }).map(String)
  return fc.record({
    entry_id: numbers,
    repository_id: changesIt
      ? fc.constant(String(repositories.doomed))
      : fc.constantFrom(...Object.values(repositories).map(String)),
    delivery_id: numbers,
    hook_id: fc.constant(hook.id),
  })
}

function parameterValues(document: Document, name: string, schema: Schema): Arbitrary<unknown> {
  if (name === 'Idempotency-Key') return fc.integer({ min: 0, max: 999 }).map((number) => `vote-${number}`)
  const [example] = schema.examples ?? []
  const values = valuesOf(document, schema)
  return example === undefined ? values : fc.oneof(fc.constant(example), values)
}

export function pathOf({ documented: { path }, parameters }: Draft): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => parameters[name] ?? '')
}

/** Puts the parts together. What may be deleted is chosen now. */
export function sendable(draft: Draft, world: World, number: number): Sendable {
  const { method, documented, query, body } = draft
  const parameters = { ...chosen(documented, world), ...draft.parameters }
  const path = draft.path ?? pathOf({ ...draft, parameters })
  const target = query === '' ? path : `${path}?${query}`
  const headers = [...credentials(draft, world), ...draft.headers]
  if (
    documented.operation.operationId === 'receiveDelivery' &&
    !headers.some(([name]) => name === 'X-Gitea-Signature')
  ) {
    headers.push(['X-Gitea-Event', 'push'], ['X-Gitea-Signature', world.hook.sign(body ?? Buffer.alloc(0))])
  }
  const named = headers.some(([name]) => name === 'X-Request-Id')
  if (!named) headers.push(['X-Request-Id', `in-${number}`])
  if (body !== null) headers.push(['Content-Length', String(body.length)])
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`, 'latin1')
  return {
    method,
    target,
    promptId: parameters.prompt_id ?? '',
    requestId: named ? null : `in-${number}`,
    bytes: body === null ? head : Buffer.concat([head, body]),
    doubtful: head.length > 15_000 || !target.startsWith('/') || /[^\x21-\x7e]/.test(target),
  }
}

function chosen({ operation: { operationId } }: Documented, { expendable }: World): Record<string, string> {
  switch (operationId) {
    case 'deletePrompt':
      return { prompt_id: expendable.prompts.shift() ?? 'pmt_gone' }
    case 'revokeKey':
      return { key_id: String(expendable.keys.shift() ?? 999_999) }
    case 'rotateKey':
      return { key_id: String(expendable.keys.at(-1) ?? 999_999) }
    case 'retractSignal': {
      const { promptId, id } = expendable.signals.shift() ?? { promptId: 'pmt_gone', id: 1 }
      return { prompt_id: promptId, signal_id: String(id) }
    }
    default:
      return {}
  }
}

function credentials({ who, headers, documented }: Draft, world: World): [string, string][] {
  if (who === 'nobody' || headers.some(([name]) => name === 'Authorization' || name === 'Cookie')) return []
  if (who !== 'session') return [['Authorization', `Bearer ${world.keys[who]}`]]
  // Only what may end is ended.
  const ends = documented.operation.operationId === 'signOut'
  const cookie = ends ? (world.expendable.sessions.shift() ?? 'promptledger_session=x') : world.session
  const fromElsewhere = headers.some(([name]) => name === 'Origin' || name === 'Sec-Fetch-Site')
  return [['Cookie', cookie], ...(fromElsewhere ? [] : [['Sec-Fetch-Site', 'same-origin'] as [string, string]])]
}
