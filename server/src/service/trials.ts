import { setTimeout as pause } from 'node:timers/promises'
import { generateLeaseOwner } from '../domain/repositories/lease.ts'
import { judgeTrial, readSituation } from '../domain/trials/judge-trial.ts'
import { type Loop, startLoop } from './loop.ts'
import { createTrialLabels, type TrialsContext } from './trial-labels.ts'
import { createTrialReports } from './trial-reports.ts'

// One that is worse has to stop within 30 seconds, and applications ask every 15.
const roundEveryMs = 5_000
const maxRestMs = 10_000
// As for the judge of changes: requests wait while it computes.
const restFactor = 49
// Longer than a round and its rest, and short, because no trial is judged for so long after a crash.
const leaseMs = 15_000
const stopTimeoutMs = 5_000

/** Looks at all trials, until it is stopped. */
export function startTrialJudge(context: TrialsContext): Pick<Loop, 'stop'> {
  const rounds = createTrialRounds(context)
  const loop = startLoop({
    tasks: [{ run: rounds.round }],
    restMs: roundEveryMs,
    restFactor,
    maxRestMs,
    log: context.log,
    failure: 'could not judge trials, retrying in a moment',
  })
  return {
    async stop() {
      await loop.stop()
      // The lease ends by itself.
      await rounds.release().catch(() => {})
      await Promise.race([rounds.idle(), pause(stopTimeoutMs, undefined, { ref: false })])
    },
  }
}

/** Looks at all trials, if no other process does. */
export function createTrialRounds(context: TrialsContext) {
  const { store, clock, log } = context
  const owner = generateLeaseOwner()
  const reports = createTrialReports(context)
  const labels = createTrialLabels(context)
  const claim = () => store.trials.claimJudging(owner, clock(), clock() + leaseMs)

  return {
    async round(): Promise<void> {
      await store.refresh()
      const active = await store.trials.active(null)
      const due = await store.trials.dueLabels(clock(), 1)
      if ((active.length === 0 && due.length === 0) || !(await claim())) return
      const judged = []
      for (const [organisationId, trials] of Map.groupBy(active, (trial) => trial.organisationId)) {
        const situation = readSituation(store, organisationId)
        for (const trial of trials) {
          try {
            const after = await judgeTrial(store, await situation, trial, clock())
            if (after !== null && after.state !== 'ended') judged.push(after)
          } catch (error) {
            log.warn({ err: error, trial: trial.id }, 'could not judge a trial')
          }
        }
        if (!(await claim())) return
      }
      // Forges may hang, and no trial waits for them.
      await reports.start(judged)
      await labels.start()
    },

    /** Resolves when no report is being sent. */
    idle: async () => void (await Promise.all([reports.idle(), labels.idle()])),
    /** Lets another process take over. */
    release: () => store.trials.releaseJudging(owner),
  }
}
