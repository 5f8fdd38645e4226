import fc, { type Arbitrary } from 'fast-check'
import type { Document, Schema } from '../../server/src/http/docs/openapi-document.ts'
import { weighted } from '../weighted.ts'
import type { DocumentedOperation } from './contract.ts'
import { type Draft, draftOf } from './draft.ts'
import { mutations } from './mutations.ts'
import type { Target } from './target.ts'
import { percentEncode, segments, valuesOf } from './values.ts'

// Rarer than others: they leave resources behind, wait for the disk one by one, or have a long response.
const rare = [
  'createKey rotateKey revokeKey createPrompt renamePrompt deletePrompt declareSegments declarePromptSegments recordHistory signIn signOut eraseSignals createVote',
  'addSource updateSource removeSource addAlert updateAlert removeAlert rotateAlertSecret testAlert retractSignal rotateRepositorySecret disconnectRepository exportSignals summariseSignals getReference getOpenApi getReadiness',
].flatMap((names) => names.split(' '))
// Rarer still: they start git.
const rarest = ['connectRepository', 'syncRepository', 'redeliver', 'receiveDelivery']

function weightOf({ operation: { operationId } }: DocumentedOperation): number {
  if (rarest.includes(operationId)) return 1
  return rare.includes(operationId) ? 3 : 60
}

/** Requests for all operations: valid, with one mistake, and with several. */
export function requests(document: Document, operations: DocumentedOperation[], target: Target): Arbitrary<Draft> {
  const valid = weighted<Draft>(
    ...operations.map((operation): [number, Arbitrary<Draft>] => [
      weightOf(operation),
      validRequests(document, operation, target),
    ]),
  )
  const several = fc.array(mutations, { minLength: 2, maxLength: 5 })
  return fc.oneof(
    valid,
    fc.tuple(valid, mutations).map(([draft, mutate]) => ({ ...mutate(draft), kind: 'one mistake' as const })),
    fc.tuple(valid, several).map(([draft, all]) => ({
      ...all.reduce((mutated, mutate) => mutate(mutated), draft),
      kind: 'several mistakes' as const,
    })),
  )
}

/** Requests for prompts with ids that do not exist. The end keeps them apart from the names of generated prompts. */
export function oddIdRequests(operations: DocumentedOperation[]): Arbitrary<Draft> {
  const ofPrompts = operations.filter(({ path }) => path.includes('{prompt_id}'))
  const ids = fc.tuple(fc.constantFrom('', 'pmt_'), segments, fc.constant('~none')).map((parts) => parts.join(''))
  return fc.tuple(fc.constantFrom(...ofPrompts), ids, callers).map(([operation, id, caller]) => ({
    ...draftOf(operation),
    kind: 'odd id',
    caller,
    parameters: { prompt_id: id, entry_id: '1', signal_id: '1' },
    headers: [['Content-Type', 'application/json']],
    body: operation.operation.requestBody === undefined ? null : Buffer.from('{"value":"positive","name":"x"}'),
  }))
}

const callers = weighted<Draft['caller']>(
  [10, fc.constant('admin')],
  [2, fc.constantFrom('standard', 'session')],
  [1, fc.constant('ingest')],
)

function validRequests(document: Document, operation: DocumentedOperation, target: Target): Arbitrary<Draft> {
  const { parameters = [], requestBody, operationId } = operation.operation
  const parametersIn = (place: string) => {
    const values = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema }) => [name, parameterValues(document, name, schema)])
    return fc.record(Object.fromEntries(values) as Record<string, Arbitrary<unknown>>, { requiredKeys: [] })
  }
  return fc
    .record({
      caller: callers,
      prompt: fc.nat(),
      path: pathParameters(operationId, target),
      query: parametersIn('query'),
      headers: parametersIn('header'),
      body: bodies(document, requestBody, target),
    })
    .map(({ caller, prompt, path, query, headers, body }) => {
      const { prompts } = target
      const deletes = operationId === 'deletePrompt' || operationId === 'retractSignal'
      const pairs = Object.entries(query).map(([name, value]) => `${name}=${percentEncode(String(value))}`)
      const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
      return {
        ...draftOf(operation),
        caller,
        parameters: { ...(!deletes && { prompt_id: prompts[prompt % prompts.length] as string }), ...path },
        query: pairs.join('&'),
        headers: body === null ? given : [...given, ['Content-Type', 'application/json']],
        body: body === null ? null : Buffer.from(JSON.stringify(body)),
      }
    })
}

/** The documented example, or that example with generated members. */
function bodies(
  document: Document,
  requestBody: DocumentedOperation['operation']['requestBody'],
  { remote, token }: Target,
): Arbitrary<object | null> {
  const media = requestBody?.content['application/json']
  if (media === undefined) return fc.constant(null)
  const example = (media.examples?.example_1?.value ?? {}) as object
  // The example's repository is not on this machine.
  const local = 'url' in example ? { url: remote, token: null } : 'token' in example ? { token } : {}
  return fc.oneof(
    fc.constant({ ...example, ...local }),
    valuesOf(document, media.schema).map((value) => ({ ...example, ...(value as object) })),
  )
}

function pathParameters(operationId: string, { repositories, hook, alert }: Target): Arbitrary<Record<string, string>> {
  const changesIt = operationId === 'disconnectRepository' || operationId === 'rotateRepositorySecret'
  const ids = fc.integer({ min: 1, max: 50 }).map(String)
  return fc.record({
    entry_id: ids,
    repository_id: fc.constantFrom(...(changesIt ? [] : [repositories.kept]), repositories.disposable).map(String),
    delivery_id: ids,
    alert_id: fc.constant(operationId === 'removeAlert' ? `alr_${'0'.repeat(24)}` : alert),
    message_id: fc.constant(`msg_${'0'.repeat(24)}`),
    hook_id: fc.constant(hook.id),
  })
}

function parameterValues(document: Document, name: string, schema: Schema): Arbitrary<unknown> {
  if (name === 'Idempotency-Key') return fc.nat(999).map((number) => `signal-${number}`)
  const [example] = schema.examples ?? []
  const values = valuesOf(document, schema)
  return example === undefined ? values : fc.oneof(fc.constant(example), values)
}
