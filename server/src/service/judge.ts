import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createLearnedDrift } from '../domain/impact/model/learned-drift.ts'
import type { Prompt } from '../domain/prompt.ts'
import { type JudgingStores, judgePrompt } from '../domain/regressions/judge-prompt.ts'
import { generateLeaseOwner } from '../domain/repositories/lease.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, day, hour, type Instant, minute } from '../domain/time.ts'
import { createTurns } from '../domain/turns.ts'
import { type Loop, startLoop } from './loop.ts'

/** Judges prompts in the background: stores their shifts, and opens and repairs regressions. */
export interface Judge {
  /** Notes that a prompt has new votes. */
  touch(organisationId: number, promptId: number): void
  /** Judges the prompts that were touched, and those whose regressions may have been repaired. */
  round(): Promise<void>
  /** Judges all prompts with recent votes, if that is due and no other process does it. */
  sweep(): Promise<void>
  stats(): JudgeStats
}

interface JudgeStats {
  judged: number
  failed: number
  /** Not judged, because too many were waiting. The daily sweep judges them. */
  dropped: number
  sweeps: number
  waiting: number
  seconds: number
}

export interface JudgeContext {
  store: Store
  clock: Clock
  log: Logger
  /** How much longer than its work the judge rests. */
  restFactor?: number
  /** The processor time that this thread has used, in milliseconds. */
  processorMs?: () => number
}

const maxWaiting = 10_000
// So that a large organisation leaves room for others.
const maxWaitingOfOrganisation = 5_000
// Of one organisation, before others get a turn.
const turnSize = 10
const maxTurnMs = 20_000
// A round ends, so that the sweep gets its share.
const turnsOfRound = 100
const turnsBetweenSwept = 5
const maxAttempts = 3
// The judge takes at most 2% of the time, because requests wait while it computes. With 10%, PostgreSQL recorded 8% fewer signals.
const defaultRestFactor = 49
const maxRestMs = 10_000
// A late vote can be this old.
const sweptVotesMs = 31 * day
const sweepIntervalMs = day
const sweepLeaseMs = 10 * minute
const sweepRenewalMs = minute
const pageSize = 50
const queueLeaseMs = 30 * minute
const maxQueued = 200
// A revert or a rollback brings no votes, so prompts with open regressions are judged without.
const checkOpenEveryMs = 30_000
const judgeOpenEveryMs = 5 * minute
const saveDriftEveryMs = hour

export function createJudge({
  store,
  clock,
  log,
  restFactor = defaultRestFactor,
  processorMs = threadMs,
}: JudgeContext): Judge & { stop(): void } {
  // For each organisation, how often each prompt has failed, in the order in which they were touched.
  const touched = new Map<number, Map<number, number>>()
  const turns = createTurns({ slots: 1, slotsPerOrganisation: 1, quickMs: maxTurnMs })
  let waiting = 0
  const openSeen = new Map<number, { historyCount: number; judgedAt: Instant }>()
  const savedAt = new Map<number, Instant>()
  const learned = createLearnedDrift(store.drift, clock)
  const stats = { judged: 0, failed: 0, dropped: 0, sweeps: 0, seconds: 0 }
  // Until when the prompts that other processes have changed are claimed.
  const queued = new Map<number, Instant>()
  let openCheckedAt = Number.NEGATIVE_INFINITY
  const stopping = new AbortController()

  const stores: JudgingStores = {
    ...store,
    drift: {
      ...store.drift,
      // What a prompt tells about drift changes slowly, so most writes are left out.
      async save(prompt, logLikelihood, at) {
        if (Math.abs(at - (savedAt.get(prompt.id) ?? Number.NEGATIVE_INFINITY)) < saveDriftEveryMs) return
        await store.drift.save(prompt, logLikelihood, at)
        if (savedAt.size >= maxWaiting) savedAt.delete(savedAt.keys().next().value as number)
        savedAt.set(prompt.id, at)
      },
    },
  }

  function touch(organisationId: number, promptId: number, attempts = 0): void {
    let ofOrganisation = touched.get(organisationId)
    if (ofOrganisation?.has(promptId)) return
    if ((ofOrganisation?.size ?? 0) >= maxWaitingOfOrganisation || waiting >= maxWaiting) {
      stats.dropped++
      return
    }
    ofOrganisation ??= new Map()
    touched.set(organisationId, ofOrganisation)
    ofOrganisation.set(promptId, attempts)
    waiting++
  }

  async function judgeOne(prompt: Prompt, attempts: number): Promise<void> {
    const startedAt = processorMs()
    try {
      const { affected } = await judgePrompt(stores, learned, prompt, clock())
      stats.judged++
      await finishQueued(prompt.organisationId, prompt.id)
      for (const promptId of affected) touch(prompt.organisationId, promptId)
    } catch (error) {
      stats.failed++
      log.warn({ err: error, prompt: prompt.publicId }, 'could not judge a prompt')
      if (attempts + 1 < maxAttempts) touch(prompt.organisationId, prompt.id, attempts + 1)
    }
    // Processor time: on a busy machine, the judge waits for the database and the processor, and takes nothing from requests.
    const ms = processorMs() - startedAt
    stats.seconds += ms / 1_000
    // Requests come first: without a rest, the judge of a large installation would take half of the process.
    await (restFactor > 0 ? rest(Math.min(ms * restFactor, maxRestMs)) : nextTurn())
  }

  /** Ends early when the judge stops. */
  const rest = (ms: number) => pause(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {})

  /** Gives turns to the organisations whose prompts took the least time lately. */
  async function round(maxTurns = turnsOfRound): Promise<void> {
    for (let turn = 0; turn < maxTurns && !stopping.signal.aborted; turn++) {
      await touchOpen()
      await touchQueued()
      const [next] = turns.order([...touched.keys()].map((organisationId) => ({ organisationId })))
      if (next === undefined) return
      const current = turns.start(next.organisationId)
      await judgeTurn(next.organisationId).finally(() => turns.end(current))
    }
  }

  /** Judges the next few prompts of an organisation. */
  async function judgeTurn(organisationId: number): Promise<void> {
    const ids = [...(touched.get(organisationId)?.keys() ?? [])].slice(0, turnSize)
    const prompts = new Map((await store.prompts.withIds(organisationId, ids)).map((prompt) => [prompt.id, prompt]))
    const startedAt = performance.now()
    for (const id of ids) {
      if (stopping.signal.aborted || performance.now() - startedAt > maxTurnMs) return
      const attempts = untouch(organisationId, id)
      const prompt = prompts.get(id)
      if (prompt !== undefined) await judgeOne(prompt, attempts)
      else await finishQueued(organisationId, id)
    }
  }

  /** Votes that arrive from now on touch it again. */
  function untouch(organisationId: number, promptId: number): number {
    const prompts = touched.get(organisationId)
    const attempts = prompts?.get(promptId) ?? 0
    if (prompts?.delete(promptId)) waiting--
    if (prompts?.size === 0) touched.delete(organisationId)
    return attempts
  }

  async function touchQueued(): Promise<void> {
    const until = clock() + queueLeaseMs
    for (const { organisationId, promptId } of await store.sweep.claimQueued(clock(), until, maxQueued)) {
      queued.set(promptId, until)
      touch(organisationId, promptId)
    }
  }

  async function finishQueued(organisationId: number, promptId: number): Promise<void> {
    const until = queued.get(promptId)
    if (until === undefined) return
    queued.delete(promptId)
    await store.sweep.finishQueued({ organisationId, promptId }, until)
  }

  async function touchOpen(): Promise<void> {
    const now = clock()
    if (Math.abs(now - openCheckedAt) < checkOpenEveryMs) return
    openCheckedAt = now
    const open = await store.regressions.openPrompts()
    for (const { promptId, organisationId, historyCount } of open) {
      const seen = openSeen.get(promptId)
      if (seen?.historyCount === historyCount && Math.abs(now - seen.judgedAt) < judgeOpenEveryMs) continue
      openSeen.set(promptId, { historyCount, judgedAt: now })
      touch(organisationId, promptId)
    }
    const ids = new Set(open.map(({ promptId }) => promptId))
    for (const id of openSeen.keys()) if (!ids.has(id)) openSeen.delete(id)
  }

  return {
    touch,
    round: () => round(),

    async sweep() {
      const owner = generateLeaseOwner()
      if (!(await store.sweep.claim(owner, clock(), clock() + sweepLeaseMs))) return
      let renewedAt = performance.now()
      const renew = async () => {
        if (performance.now() - renewedAt < sweepRenewalMs) return true
        renewedAt = performance.now()
        return store.sweep.renew(owner, clock() + sweepLeaseMs)
      }
      const since = clock() - sweptVotesMs
      for (let after: number | null = 0; after !== null && !stopping.signal.aborted; ) {
        const { prompts, last } = await store.sweep.votedPrompts(since, after, pageSize)
        for (const prompt of prompts) {
          if (stopping.signal.aborted) break
          await judgeOne(prompt, 0)
          // New votes must not wait until all prompts are judged.
          await round(turnsBetweenSwept)
          if (!(await renew())) return
        }
        if (!(await renew())) return
        after = last
      }
      // After a stop, the next process continues.
      const { aborted } = stopping.signal
      await store.sweep.finish(owner, aborted ? clock() : clock() + sweepIntervalMs)
      if (!aborted) stats.sweeps++
    },

    stats: () => ({ ...stats, waiting }),

    stop: () => stopping.abort(),
  }
}

/** Includes what else the thread did while the judge waited, so it is at most too much. Node 22 only knows that of the process. */
function threadMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1_000
}

/** The store, with a note to the judge for each vote and change. It costs no write and no wait. */
export function withJudge(store: Store, judge: Pick<Judge, 'touch'>): Store {
  return {
    ...store,
    signals: {
      ...store.signals,
      record(signal) {
        judge.touch(signal.organisationId, signal.promptId)
        return store.signals.record(signal)
      },
      enqueue(signal, done, failed) {
        judge.touch(signal.organisationId, signal.promptId)
        store.signals.enqueue(signal, done, failed)
      },
      delete(prompt, id, at, by) {
        judge.touch(prompt.organisationId, prompt.id)
        return store.signals.delete(prompt, id, at, by)
      },
    },
    history: {
      ...store.history,
      record(prompt, entry, at, by) {
        judge.touch(prompt.organisationId, prompt.id)
        return store.history.record(prompt, entry, at, by)
      },
    },
  }
}

const roundEveryMs = 2_000
const sweepCheckEveryMs = 10 * minute
// Votes of the last hours may not have been judged before a restart.
const missedHoursMs = 3 * hour

/** Runs the judge until it is stopped, which resolves when the prompt in progress is judged. */
export function startJudge(
  judge: ReturnType<typeof createJudge>,
  { store, clock, log }: JudgeContext,
): Pick<Loop, 'stop'> {
  let hasTouchedMissed = false

  async function round(isStopped: () => boolean): Promise<'again' | 'done'> {
    for (let after: number | null = hasTouchedMissed ? null : 0; after !== null && !isStopped(); ) {
      const { prompts, last } = await store.sweep.votedPrompts(clock() - missedHoursMs, after, pageSize)
      for (const { organisationId, id } of prompts) judge.touch(organisationId, id)
      after = last
      await nextTurn()
    }
    hasTouchedMissed = true
    await judge.round()
    return judge.stats().waiting > 0 ? 'again' : 'done'
  }

  const loop = startLoop({
    tasks: [{ run: round }, { everyMs: sweepCheckEveryMs, run: judge.sweep }],
    restMs: roundEveryMs,
    log,
    failure: 'could not judge prompts, retrying in a moment',
  })
  return {
    stop() {
      judge.stop()
      return loop.stop()
    },
  }
}
