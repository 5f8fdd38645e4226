import { type Probed, startProbe } from '../probe.ts'
import type { Site } from './attack.ts'
import { type MemorySample, watchMemory } from './memory.ts'
import { type RecordedSignal, startRecording } from './recorder.ts'

/** Everything that was measured, over all phases. */
export interface Observations {
  memory: MemorySample[]
  health: Probed[]
  reads: Probed[]
  signals: RecordedSignal[]
}

export interface Span {
  from: number
  to: number
}

/** A part of the run: one of the attacks, or the times between them. */
export interface Phase {
  name: string
  isLoad: boolean
  maxMs?: number | undefined
  maxMb?: number | undefined
  maxHealthCostMs?: number | undefined
  spans: Span[]
  /** What the attack itself observed. */
  result: string
}

export interface Figures {
  peakMb: number
  /** The largest parts of it, in megabytes. */
  peakParts: string
  gitProcesses: number
  healthMs: number
  /** The processor time of the service during a health check. */
  healthCostMs: number
  recordingP99: number
  readingP99: number
}

const intervalsMs = { memory: 20, health: 100, reads: 50, signals: 20 }
// Watching would take half of the processor time of the tests.
const shortIntervalsMs = { memory: 50, health: 200, reads: 200, signals: 100 }

/** Starts to record and read as the neighbour, to check the health and to sample the memory, each in a thread of its own. */
export async function watch({ service, neighbour, isShort }: Site): Promise<() => Promise<Observations>> {
  const everyMs = isShort ? shortIntervalsMs : intervalsMs
  const { address, port } = service
  const headers = { authorization: `Bearer ${neighbour.key}` }
  const page = `${address}/api/v1/prompts/${neighbour.promptId}/history`
  const pid = service.process.pid as number
  const stopMemory = await watchMemory(pid, everyMs.memory)
  const stopHealth = await startProbe({ url: `${address}/healthz`, intervalMs: everyMs.health, pid })
  const stopReads = await startProbe({ url: page, headers, intervalMs: everyMs.reads })
  const stopSignals = await startRecording({ port, account: neighbour, intervalMs: everyMs.signals })
  return async () => ({
    signals: await stopSignals(),
    reads: await stopReads(),
    health: await stopHealth(),
    memory: await stopMemory(),
  })
}

/** What was measured during the phase. Throws if a request of the neighbour failed. */
export function figuresOf({ memory, health, reads, signals }: Observations, phase: Phase): Figures {
  const isDuring = (time: number) => phase.spans.some(({ from, to }) => time >= from && time < to)
  const during = <T extends { at: number }>(all: T[]) => all.filter(({ at }) => isDuring(at))
  const requests = [...during(reads), ...during(health), ...during(signals)]
  const failed = requests.find(({ status }) => status !== 200 && status !== 201)
  if (failed !== undefined)
    throw new Error(`${phase.name}: a request of the neighbour was answered with ${failed.status}`)
  const peak = during(memory).reduce((a, b) => (a.total > b.total ? a : b))
  const { service, worker, git } = peak
  return {
    peakMb: Math.round(peak.total),
    peakParts: [service, worker, git].map(Math.round).join(' + '),
    gitProcesses: Math.max(...during(memory).map(({ gitProcesses }) => gitProcesses)),
    healthMs: Math.round(Math.max(...during(health).map(({ ms }) => ms))),
    healthCostMs: Math.max(...during(health).map(({ processorMs }) => processorMs)),
    recordingP99: p99(during(signals)),
    readingP99: p99(during(reads)),
  }
}

function p99(requests: { ms: number }[]): number {
  const sorted = requests.map(({ ms }) => ms).sort((a, b) => a - b)
  return Math.ceil(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0)
}
