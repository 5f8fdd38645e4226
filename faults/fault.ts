export type EngineName = 'sqlite' | 'postgres'

export interface Trial {
  engine: EngineName
  /** An empty database of its own. */
  url: string
  /** A folder of its own. */
  folder: string
  /** How often to repeat the fault, in the fault's own unit. */
  times: number
  /** Seeded, so that a run can be repeated. */
  random: () => number
  /** Reports one of the steps of a fault, as a line of text. */
  note: (line: string) => void
}

export interface Outcome {
  /** What was done, with numbers. */
  tried: string
  /** What was observed, by name. A name may end with its unit, as in `recovery, ms`. */
  [observation: string]: string | number
}

/** A failure, and the guarantees that must hold despite it. `run` throws if one does not. */
export interface Fault {
  /** For `--only`. */
  name: string
  title: string
  engines: EngineName[]
  /** `full` for `npm run faults`, `short` for `npm test`. */
  times: { full: number; short: number }
  run(trial: Trial): Promise<Outcome>
}
