import type { Candidates } from '../../domain/shifts/shift.ts'
import { fromMillionths, toMillionths } from './millionths.ts'

/** As stored: `{"count":16,"changes":[[<entry ID>,<share in millionths>],…]}`. */
interface StoredCandidates {
  count: number
  changes: [entryId: number, share: number][]
}

export function encodeCandidates({ count, changes }: Candidates): string {
  const stored: StoredCandidates = {
    count,
    changes: changes.map(({ entryId, share }) => [entryId, toMillionths(share)]),
  }
  return JSON.stringify(stored)
}

export function decodeCandidates(text: string): Candidates {
  const { count, changes }: StoredCandidates = JSON.parse(text)
  return { count, changes: changes.map(([entryId, share]) => ({ entryId, share: fromMillionths(share) })) }
}
