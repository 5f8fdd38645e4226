import { hash } from 'node:crypto'

export const arms = ['control', 'candidate'] as const

export type Arm = (typeof arms)[number]

/**
 * The arm of a unit, such as a user or a conversation. It depends on nothing else, so that every process, in any language, gives
 * a unit the same arm without asking the service. Raising the share only moves units from the control to the candidate.
 */
export function armOf(trial: string, unit: string, share: number): Arm {
  return positionOf(trial, unit) < share ? 'candidate' : 'control'
}

/** Where a unit lies between 0 and 1: the first 53 bits of a hash, all that a double holds exactly. */
export function positionOf(trial: string, unit: string): number {
  const digest = hash('sha256', `${trial}:${unit}`, 'hex')
  const high = Number.parseInt(digest.slice(0, 8), 16)
  const low = Number.parseInt(digest.slice(8, 16), 16) >>> 11
  return (high * 2 ** 21 + low) / 2 ** 53
}
