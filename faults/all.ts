import { clock } from './clock.ts'
import { disk } from './disk.ts'
import type { Fault } from './fault.ts'
import { badInput } from './input.ts'
import { kills } from './kills.ts'
import { overload } from './overload.ts'
import { postgresAway } from './postgres-away.ts'
import { manyReplicas } from './replicas.ts'
import { year } from './year.ts'

/** In the order in which they are tried. */
export const faults: Fault[] = [kills, postgresAway, disk, manyReplicas, clock, overload, badInput, year]
