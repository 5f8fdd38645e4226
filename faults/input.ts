import fc, { type Arbitrary } from 'fast-check'
import type { Document } from '../server/src/http/docs/openapi-document.ts'
import { memoryOf, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { type Hostile, hostileOnes, slowOnes, stalledOnes } from './input/hostile.ts'
import { count, newReport, note, type Report, told } from './input/report.ts'
import { type Draft, drafts, oddIds, sendable } from './input/requests.ts'
import { type Documented, type Shapes, shapesOf } from './input/shapes.ts'
import { type Answer, converse, newWire, open, type Wire } from './input/wire.ts'
import { countUp, foundWorld, learn, openWorld, type World } from './input/world.ts'

const atOnce = 64
const slowAtOnce = 4
// How many are made up at a time.
const portion = 200
// In megabytes, from the second quarter of the requests to the last.
const mostGrowth = 20
// Clients that stop are told so after half a minute, which is longer than a short run takes.
const longRun = 100_000
const longestStall = 60_000
// Of different kinds: there is no need to see more.
const mostWrong = 20

/** Requests that are made up from the documentation, wrong in all ways, and bytes that are no requests; `times` counts them. */
export const badInput: Fault = {
  name: 'input',
  title: 'bad input: made-up requests, hostile bytes, odd ids',
  engines: ['sqlite', 'postgres'],
  times: { full: 200_000, short: 3_000 },
  async run({ url, folder, times, random }) {
    const seed = Math.floor(random() * 2 ** 31)
    const accounts = await foundWorld(url)
    const running = await serve(url, {
      DATA_DIR: folder,
      ALLOW_LOCAL_REPOSITORIES: '1',
      PROMPTLEDGER_SECRET_KEY: '5a'.repeat(32),
    })
    try {
      const world = await openWorld(running, accounts, folder)
      const address = `http://127.0.0.1:${running.port}`
      const document = (await (await fetch(`${address}/openapi.json`)).json()) as Document
      const shapes = shapesOf(document)
      const report = newReport(seed)
      const memory: number[] = []
      const everything = requestsOf(document, shapes, world, seed)
      let sent = 0
      const others = times < longRun ? [] : stalledOnes(world).map((one) => attack(world, shapes, one, report))
      const slow = Array.from({ length: slowAtOnce }, async (_, i) => {
        const ones = slowOnes(world)
        for (let turn = i; sent < times; turn++)
          await attack(world, shapes, ones[turn % ones.length] as Hostile, report)
      })
      const workers = Array.from({ length: atOnce }, async () => {
        const wire = newWire(running.port)
        while (sent < times && report.wrong.size < mostWrong) {
          if (++sent % 100 === 0) memory.push(memoryOf(running).resident)
          const { value } = everything.next()
          if ('pieces' in value) await attack(world, shapes, value, report)
          else await ask(world, shapes, wire, value, report)
        }
        sent = Math.max(sent, times)
        wire.close()
      })
      await Promise.all([...workers, ...slow, ...others])
      if (report.wrong.size > 0) throw new Error(`not as documented:\n${[...report.wrong.values()].join('\n')}`)
      const { status } = await fetch(`${address}/healthz`)
      if (status !== 200) throw new Error(`health was answered with ${status}`)
      const idle = shapes.operations.filter(({ operation }) => !report.succeeded.has(operation.operationId))
      if (times >= longRun && idle.length > 0) throw new Error(`nobody succeeded: ${idle.map(nameOf).join(', ')}`)
      const signals = await countUp(world)
      const before = median(memory.slice(memory.length / 4, memory.length / 2))
      const after = median(memory.slice((3 * memory.length) / 4))
      if (times >= longRun && after - before > mostGrowth) {
        throw new Error(`memory grew from ${before} to ${after} MB`)
      }
      return {
        tried: `${times} requests`,
        kinds: told(report.kinds),
        statuses: told(report.statuses),
        'closed without an answer': told(report.closed),
        'operations that succeeded': `${shapes.operations.length - idle.length} of ${shapes.operations.length}`,
        'signals stored': signals,
        'memory in the second quarter, MB': Math.round(before),
        'memory in the last quarter, MB': Math.round(after),
      }
    } finally {
      await running.stop()
    }
  },
}

/** Of twenty, one has an odd id, two are hostile. */
function* requestsOf(
  document: Document,
  shapes: Shapes,
  world: World,
  seed: number,
): Generator<Draft | Hostile, never> {
  const made = sampled(drafts(document, shapes.operations, world), seed)
  const odd = sampled(oddIds(shapes.operations), seed)
  const hostile = sampled(hostileOnes(world), seed)
  for (let i = 0; ; i++) {
    if (i % 20 === 0) yield odd.next().value
    else if (i % 10 === 5) yield hostile.next().value
    else yield made.next().value
  }
}

function* sampled<Value>(arbitrary: Arbitrary<Value>, seed: number): Generator<Value, never> {
  for (let i = 0; ; i++) yield* fc.sample(arbitrary, { seed: seed + i, numRuns: portion })
}

async function ask(world: World, shapes: Shapes, wire: Wire, draft: Draft, report: Report): Promise<void> {
  const { method, target, bytes, promptId, requestId, doubtful } = sendable(draft, world, report.asked++)
  const operation = shapes.find(method, target)?.operation
  const name = operation?.operationId ?? draft.kind
  count(report.kinds, draft.kind)
  const answer = await wire.ask(method, bytes).catch((error: Error) => error)
  if (answer === null) count(report.closed, draft.kind)
  if (answer === null && doubtful) return
  if (answer === null || answer instanceof Error) {
    note(report, answer?.message ?? 'closed without an answer', name, bytes, null)
    return
  }
  count(report.statuses, String(answer.status))
  if (doubtful && shapes.wrongWithBroken(answer) === null) return
  const wrong = shapes.wrongWith(method, target, answer)
  if (wrong !== null) note(report, wrong, name, bytes, answer)
  const given = answer.headers.get('x-request-id')
  if (requestId !== null && given !== requestId) note(report, `the answer to ${given}`, name, bytes, answer)
  if (draft.kind === 'odd id' && answer.status < 300) note(report, 'a prompt that is not there', name, bytes, answer)
  if (operation === undefined || answer.status >= 300) return
  report.succeeded.add(operation.operationId)
  learn(world, operation.operationId, draft.who, promptId, answer)
}

async function attack(world: World, shapes: Shapes, hostile: Hostile, report: Report): Promise<void> {
  const { name, pieces, pause, asked, most, broken, ending } = hostile
  const bytes = Buffer.concat(pieces)
  count(report.kinds, pause > 0 ? 'slow' : 'hostile')
  const socket = await open(world.port)
  try {
    if (ending === 'leaves') {
      socket.end(bytes, () => socket.resetAndDestroy())
      return
    }
    // Whoever sends no more waits for the end, to see whether there is one answer too many.
    const methods = [...(asked ?? Array(most).fill({ method: 'GET' })).map(({ method }) => method)]
    if (ending === 'stops') methods.push('GET')
    const { answers } = await converse(socket, pieces, {
      methods,
      pause,
      ends: ending === 'stops',
      patience: longestStall,
    })
    if (answers.length === 0) count(report.closed, name)
    if (answers.length > most) note(report, `${answers.length} answers`, name, bytes, answers.at(-1) as Answer)
    if (broken === 'never' && answers.length < most) note(report, `${answers.length} answers`, name, bytes, null)
    for (const [i, answer] of answers.entries()) {
      count(report.statuses, String(answer.status))
      const refused = shapes.wrongWithBroken(answer)
      if (broken !== 'never' && refused === null) continue
      const { method = '', target = '' } = asked?.[i] ?? {}
      const wrong =
        broken === 'always'
          ? refused
          : asked === null
            ? shapes.wrongWithAny(answer)
            : shapes.wrongWith(method, target, answer)
      if (wrong !== null) note(report, wrong, name, bytes, answer)
      else if (answer.status === 201) learn(world, 'createSignal', 'admin', target.split('/')[4] ?? '', answer)
    }
  } catch (error) {
    note(report, (error as Error).message, name, bytes, null)
  } finally {
    socket.destroy()
  }
}

function nameOf({ operation }: Documented): string {
  return operation.operationId
}

function median(numbers: number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
}
