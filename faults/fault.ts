export type EngineName = 'sqlite' | 'postgres'

export interface Trial {
  engine: EngineName
  /** An empty database of its own. */
  url: string
  /** A folder of its own. */
  folder: string
  /** How often, in the unit that the fault counts in. */
  times: number
  /** From the run's seed, so that a run can be repeated. */
  random: () => number
}

export interface Outcome {
  /** What was done, with figures. */
  tried: string
  /** What came of it, by name; losses do not come here but throw. */
  [figure: string]: string | number
}

/** Something that goes wrong, and the promises that hold all the same. Whatever does not hold is thrown. */
export interface Fault {
  /** What it is called with --only, and what it is. */
  name: string
  title: string
  engines: EngineName[]
  /** How often in full, and how often in `npm test`. */
  times: { full: number; short: number }
  run(trial: Trial): Promise<Outcome>
}
