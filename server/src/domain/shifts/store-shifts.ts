import type { WanderStore } from '../impact/wander-store.ts'
import type { Prompt } from '../prompt.ts'
import { day, type Instant } from '../time.ts'
import { isShared } from './others.ts'
import type { FoundShift, ShiftStore, StoredShift } from './shift.ts'

export interface ExplainingStores {
  shifts: Pick<ShiftStore, 'replace' | 'countOthers' | 'toExplainAgain'>
  wander: Pick<WanderStore, 'count'>
}

// A prompt that was judged in the day before a shift has votes.
const activeMs = day

/**
 * Stores the shifts of a prompt, and which of them other prompts share. Returns them, and the other prompts, by ID, whose shifts may have
 * another cause now.
 */
export async function storeShifts(
  stores: ExplainingStores,
  prompt: Prompt,
  found: readonly FoundShift[],
  before: readonly StoredShift[],
  now: Instant,
): Promise<{ shifts: StoredShift[]; affected: number[] }> {
  if (found.length === 0 && before.length === 0) return { shifts: [], affected: [] }
  const ranges = found.map(({ between }) => between)
  const moved = await stores.shifts.countOthers(prompt, ranges, now)
  const shifts = await Promise.all(
    found.map(async (shift, i): Promise<StoredShift> => {
      const others = moved[i] as (typeof moved)[number]
      // One other prompt is never enough, so that most shifts need no count.
      const all =
        others.moved < 2 ? 0 : (await stores.wander.count(prompt.organisationId, shift.between[0] - activeMs)) - 1
      return { ...shift, sharedWith: isShared({ ...others, all }, shift.entryId !== null) ? others.moved : null }
    }),
  )
  if (JSON.stringify(shifts.map(rounded)) === JSON.stringify(before.map(rounded))) return { shifts, affected: [] }
  await stores.shifts.replace(prompt, shifts)
  const known = new Set(before.map(({ between }) => String(between)))
  const news = shifts.flatMap(({ between, entryId }, i) => {
    const count = (moved[i] as (typeof moved)[number]).moved
    return count > 1 && !known.has(String(between)) ? [{ between, moved: count, hasChange: entryId !== null }] : []
  })
  return { shifts, affected: await stores.shifts.toExplainAgain(prompt, news) }
}

// Rates are stored in millionths.
function rounded({ at, between, rateBefore, rateAfter, entryId, sharedWith }: StoredShift): unknown[] {
  const rates = [rateBefore, rateAfter].map((rate) => Math.round(rate * 1e6))
  return [at, between, rates, entryId, sharedWith]
}
