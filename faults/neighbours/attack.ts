import type { Account } from '../../testing/account.ts'
import type { GitRepository } from '../../testing/git-repository.ts'
import type { RunningProcess } from '../../testing/processes.ts'

/** The service under attack, and the organisation that attacks it. */
export interface Site {
  url: string
  /** A folder for files of the attack. */
  folder: string
  /** The settings of the service, for the CLI. */
  env: NodeJS.ProcessEnv
  service: RunningProcess
  attacker: Account
  /** The organisation that is measured. */
  neighbour: Account
  /** How long an attack on availability lasts. */
  seconds: number
  isShort: boolean
  /** Removed after the last attack. */
  remotes: GitRepository[]
}

export interface Attack {
  /** Starts with the number of the finding that it repeats, or with a topic. */
  name: string
  /** Whether it tries to slow down others. The latencies of the others count only then: a check takes too little time. */
  isLoad: boolean
  /** How long the others may wait, in milliseconds, instead of a multiple of the time without an attack. */
  maxMs?: number
  /** How much processor time the service may use until it has answered a health check, in milliseconds. */
  maxHealthCostMs?: number
  /** How much memory all processes may have, in megabytes, instead of what is allowed otherwise. */
  maxMb?: number
  /**
   * Prepares the attack, which is not measured, and returns a function that carries it out. That function throws unless
   * the service responds as it should, and otherwise says what it observed.
   */
  prepare(site: Site): Promise<() => Promise<string>>
}

export function check(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(problem)
}
