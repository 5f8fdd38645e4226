import { type Rejection, rejectionReasons, shownDetail } from './evaluation.ts'
import type { Outcome, OutcomeCount, TelemetryKind } from './telemetry.ts'

/** What became of the records of one request. */
export interface OutcomeCounts {
  add(outcome: Outcome, detail?: string, records?: number): void
  all(): OutcomeCount[]
  rejected(): number
  /** One line that says why records were rejected; empty if none were. */
  describe(): string
}

// Names beyond these are counted together.
const maxDetails = 50
const maxDescribed = 5

const advice: Record<Rejection['reason'], string> = {
  unknown_prompt: 'no prompt of this organisation that the key may use has this ID, name or path',
  ambiguous_prompt: 'several prompts have this name, or the trace is about several: send the ID of one',
  unknown_span: 'the event names no prompt, and no span with its trace or response ID has named one',
  no_value: 'neither gen_ai.evaluation.score.label nor gen_ai.evaluation.score.value can be read',
  no_threshold: 'the score needs a threshold for this evaluation: PUT /api/v1/evaluations',
  too_old: 'the record is older than records are accepted',
  in_future: 'the time of the record is in the future: check the clock of the sender',
  over_limit: 'the monthly limit of signals is reached',
  too_many: 'the request has too many records: send smaller batches',
}

export function createOutcomeCounts(kind: TelemetryKind): OutcomeCounts {
  const counts = new Map<string, OutcomeCount>()
  const isRejected = ({ outcome }: OutcomeCount) => (rejectionReasons as readonly string[]).includes(outcome)

  return {
    add(outcome, detail = '', records = 1) {
      if (records === 0) return
      const shown = detail === '' ? '' : shownDetail(detail)
      let key = `${outcome} ${shown}`
      if (!counts.has(key) && counts.size >= maxDetails) key = `${outcome} `
      const count = counts.get(key) ?? { kind, outcome, detail: key === `${outcome} ` ? '' : shown, records: 0 }
      count.records += records
      counts.set(key, count)
    },
    all: () => [...counts.values()],
    rejected: () => [...counts.values()].filter(isRejected).reduce((sum, { records }) => sum + records, 0),
    describe() {
      const rejected = [...counts.values()].filter(isRejected).sort((a, b) => b.records - a.records)
      const parts = rejected.slice(0, maxDescribed).map(({ outcome, detail, records }) => {
        const about = detail === '' ? '' : ` ${JSON.stringify(detail)}`
        return `${records} × ${outcome}${about} (${advice[outcome as Rejection['reason']]})`
      })
      return parts.join('; ')
    },
  }
}
