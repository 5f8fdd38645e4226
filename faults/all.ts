import { alerts } from './alerts.ts'
import { clock } from './clock.ts'
import { disk } from './disk.ts'
import type { Fault } from './fault.ts'
import { input } from './input.ts'
import { kills } from './kills.ts'
import { model } from './model.ts'
import { neighbours } from './neighbours.ts'
import { overload } from './overload.ts'
import { postgres } from './postgres.ts'
import { replicas } from './replicas.ts'

/** In the order in which they run. */
export const faults: Fault[] = [kills, postgres, disk, replicas, alerts, clock, overload, neighbours, input, model]
