import type { Value } from './database.ts'

const million = 1_000_000

/** Rates are stored as integers, so that archives and both engines hold exactly the same value. */
export function toMillionths(rate: number): number {
  return Math.round(rate * million)
}

export function fromMillionths(value: Value | undefined): number {
  return (value as number) / million
}
