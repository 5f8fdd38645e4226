import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccount } from '../testing/account.ts'
import { serve } from '../testing/processes.ts'
import { shuffled } from '../testing/random.ts'
import type { EngineName, Fault } from './fault.ts'
import type { Attack, Site } from './neighbours/attack.ts'
import { attacks, shortAttacks } from './neighbours/attacks.ts'
import { api } from './neighbours/client.ts'
import { type Figures, figuresOf, type Phase, type Span, watch } from './neighbours/watch.ts'
import { reconcile } from './reconcile.ts'
import type { Fate } from './senders.ts'

const maxMemoryMb = 400
const maxHealthMs = 1_000
const maxSlowdown = 3
// Faster than this, a p99 says more about the machine than about the service.
const minBaselineMs = 20
// The tests share the machine with others, so that only a stall counts.
const stallMs = 10_000
// How long to measure without an attack, as a share of the time with one.
const idleShare = 0.3
const warmUpMs = 2_000
const minPhaseMs = 500
const historyEntries = 50

/** One organisation attacks in every way that was found to hurt others, next to one that is measured. `times` counts seconds. */
export const neighbours: Fault = {
  name: 'neighbours',
  title: 'a hostile organisation next to others',
  engines: ['sqlite', 'postgres'],
  times: { full: 10, short: 0.5 },
  async run({ engine, url, folder, times: seconds, random, note }) {
    const isShort = seconds < 5
    const chosen = shuffled(random, isShort ? halfFor(engine) : attacks)
    const [neighbour, attacker] = [await createAccount(url, 'business'), await createAccount(url, 'business')]
    const env = {
      DATABASE_URL: url,
      DATA_DIR: join(folder, 'data'),
      PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
      PROMPTLEDGER_OLD_SECRET_KEYS: randomBytes(32).toString('hex'),
      PUBLIC_URL: 'https://ledger.example',
      ALLOW: 'local-repositories',
      // Networks of strangers are those that a proxy reports.
      TRUSTED_PROXIES: '127.0.0.1',
      METRICS_PORT: '0',
      // Several attacks cause errors, which are checked by their responses.
      LOG_LEVEL: 'silent',
    }
    const service = await serve(url, env)
    const site: Site = { url, folder, env, service, attacker, neighbour, seconds, isShort, remotes: [] }
    await recordHistory(site)
    const stopWatching = await watch(site)
    const phases: Phase[] = []
    const failure = await attackAll(site, chosen, phases).catch((error: Error) => error)
    const observations = await stopWatching()
    for (const remote of site.remotes) remote.remove()
    const figures = phases.map((phase) => figuresOf(observations, phase))
    for (const line of tableOf(phases, figures)) note(line)
    if (failure !== undefined) throw failure
    const fates = new Map(observations.signals.map(({ number, status }) => [number, fateOf(status)]))
    const { stored } = await reconcile(service.port, [neighbour], { fates, unexpected: [] })
    checkAll(phases, figures, isShort)
    await service.stop()
    const max = (of: (each: Figures) => number) => Math.max(...figures.slice(1).map(of))
    return {
      tried: `${chosen.length} attacks`,
      stored,
      'peak memory, MB': max(({ peakMb }) => peakMb),
      'health max, ms': max(({ healthMs }) => healthMs),
      'recording p99 idle, ms': figures[0]?.recordingP99 ?? 0,
      'recording p99 max, ms': max(({ recordingP99 }) => recordingP99),
      'reading p99 idle, ms': figures[0]?.readingP99 ?? 0,
      'reading p99 max, ms': max(({ readingP99 }) => readingP99),
    }
  },
}

/** Every other attack. The tests run each on one engine; `npm run faults` runs all on both. */
function halfFor(engine: EngineName): Attack[] {
  return shortAttacks.filter((_, i) => i % 2 === (engine === 'sqlite' ? 0 : 1))
}

/** Entries for the neighbour to read. */
async function recordHistory(site: Site): Promise<void> {
  const { key, promptId } = site.neighbour
  const user = { name: 'Ada Lovelace', email: 'ada@example.com' }
  for (let i = 0; i < historyEntries; i++) {
    const change = { action: 'deployed', user, commit_sha: 'a1'.repeat(20), branch_name: 'main' }
    const entry = { ...change, pr_number: null, pr_url: null, created_at: new Date(i).toISOString() }
    await api(site, key, 'POST', `/prompts/${promptId}/history`, entry)
  }
}

/**
 * Adds the attacks to the phases, after one for the times without an attack. There is such a time before each attack that
 * tries to slow down others, because the speed of a shared machine changes during the run.
 */
async function attackAll(site: Site, chosen: Attack[], phases: Phase[]): Promise<void> {
  const idle: Phase = { name: 'none', isLoad: false, spans: [], result: '' }
  const idleMs = site.seconds * idleShare * 1_000
  await pause(warmUpMs)
  phases.push(idle)
  for (const { name, isLoad, maxMs, maxMb, maxHealthCostMs, prepare } of chosen) {
    const attack = await prepare(site)
    if (isLoad) idle.spans.push((await timed(() => pause(idleMs, ''))).span)
    const { span, result } = await timed(attack).catch((error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error })
    })
    phases.push({ name, isLoad, maxMs, maxMb, maxHealthCostMs, spans: [span], result })
  }
}

async function timed(run: () => Promise<string>): Promise<{ span: Span; result: string }> {
  const from = Date.now()
  const result = await run()
  // Long enough for each figure to have a sample.
  await pause(Math.max(from + minPhaseMs - Date.now(), 0))
  return { span: { from, to: Date.now() }, result }
}

function fateOf(status: number): Fate {
  return status === 201 ? 'stored' : 'unknown'
}

/** Throws with everything that is over its limit. */
function checkAll(phases: Phase[], figures: Figures[], isShort: boolean): void {
  const [idle] = figures as [Figures]
  const allowed = (ms: number) => (isShort ? stallMs : ms)
  const slowest = (baseline: number) => maxSlowdown * Math.max(baseline, minBaselineMs)
  const problems = phases.flatMap(({ name, isLoad, maxMs, maxMb = maxMemoryMb, maxHealthCostMs }, i) => {
    const { peakMb, healthMs, healthCostMs, recordingP99, readingP99 } = figures[i] as Figures
    return [
      peakMb > maxMb && `${peakMb} MB of memory`,
      healthMs > allowed(maxHealthMs) && `/healthz took ${healthMs} ms`,
      healthCostMs > allowed(maxHealthCostMs ?? stallMs) && `/healthz waited for ${healthCostMs} ms of processor time`,
      isLoad && recordingP99 > allowed(maxMs ?? slowest(idle.recordingP99)) && `p99 of recording ${recordingP99} ms`,
      isLoad && readingP99 > allowed(maxMs ?? slowest(idle.readingP99)) && `p99 of reading ${readingP99} ms`,
    ].flatMap((problem) => (problem === false ? [] : [`${name}: ${problem}`]))
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

const columns = [
  'attack',
  'recording p99',
  'reading p99',
  'health check, longest',
  'its processor time',
  'memory (service + worker + git)',
  'git processes',
  's',
  'result',
]

function tableOf(phases: Phase[], figures: Figures[]): string[] {
  const rows = phases.map(({ name, spans, result }, i) => {
    const { recordingP99, readingP99, healthMs, healthCostMs, peakMb, peakParts, gitProcesses } = figures[i] as Figures
    const latencies = [recordingP99, readingP99, healthMs, healthCostMs].map((ms) => `${ms} ms`)
    const seconds = spans.reduce((total, { from, to }) => total + (to - from) / 1_000, 0).toFixed(1)
    return [name, ...latencies, `${peakMb} MB (${peakParts})`, gitProcesses, seconds, result]
  })
  const alignments = columns.map((_, i) => (i > 0 && i < columns.length - 1 ? '---:' : '---'))
  return [columns, alignments, ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}
