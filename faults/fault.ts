export type EngineName = 'sqlite' | 'postgres'

export interface Trial {
  engine: EngineName
  /** An empty database of its own. */
  url: string
  /** A folder of its own. */
  folder: string
  /** How often, in what unit the fault counts. */
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
  name: string
  engines: EngineName[]
  run(trial: Trial): Promise<Outcome>
}
