import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import { isShared } from './others.ts'
import type { FoundShift, ShiftStore, StoredShift } from './shift.ts'

type ExplainingStore = Pick<ShiftStore, 'replace' | 'countOthers' | 'countVoted' | 'toExplainAgain'>

/**
 * Stores the shifts of a prompt, and which of them other prompts share. Returns them, and the other prompts, by ID, whose shifts may have
 * another cause now.
 */
export async function storeShifts(
  store: ExplainingStore,
  prompt: Prompt,
  found: readonly FoundShift[],
  before: readonly StoredShift[],
  now: Instant,
): Promise<{ shifts: StoredShift[]; affected: number[] }> {
  if (found.length === 0 && before.length === 0) return { shifts: [], affected: [] }
  const ranges = found.map(({ between }) => between)
  const moved = await store.countOthers(prompt, ranges, now)
  const shifts = await Promise.all(
    found.map(async (shift, i): Promise<StoredShift> => {
      const others = moved[i] as (typeof moved)[number]
      const hasChange = shift.entryId !== null
      // One other prompt is never enough, so that most shifts need no count.
      const all = hasChange && others.unchanged > 1 ? await store.countVoted(prompt, shift.between) : 0
      const sharedWith = isShared({ ...others, all }, hasChange) ? others.moved : null
      const foundAt = before.find((known) => isSame(known, shift))?.foundAt ?? now
      return { ...shift, sharedWith, foundAt }
    }),
  )
  if (JSON.stringify(shifts.map(rounded)) === JSON.stringify(before.map(rounded))) return { shifts, affected: [] }
  await store.replace(prompt, shifts)
  const known = new Set(before.map(({ between }) => String(between)))
  const news = shifts.flatMap(({ between, entryId }, i) => {
    const count = (moved[i] as (typeof moved)[number]).moved
    return count > 1 && !known.has(String(between)) ? [{ between, moved: count, hasChange: entryId !== null }] : []
  })
  return { shifts, affected: await store.toExplainAgain(prompt, news) }
}

/** Whether it was known before: its time and its rates move a little with every vote. */
function isSame(known: StoredShift, { between, rateBefore, rateAfter }: FoundShift): boolean {
  const overlaps = known.between[0] <= between[1] && known.between[1] >= between[0]
  return overlaps && known.rateAfter < known.rateBefore === rateAfter < rateBefore
}

// Rates and shares are stored in millionths.
function rounded({ at, between, rateBefore, rateAfter, entryId, sharedWith, candidates }: StoredShift): unknown[] {
  const shares = candidates?.changes.flatMap(({ entryId, share }) => [entryId, Math.round(share * 1e6)]) ?? null
  const rates = [rateBefore, rateAfter].map((rate) => Math.round(rate * 1e6))
  return [at, between, rates, entryId, sharedWith, candidates?.count ?? null, shares]
}
