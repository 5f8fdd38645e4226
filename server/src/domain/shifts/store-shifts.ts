import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import { isShared } from './others.ts'
import { type FoundShift, type KnownShift, type ShiftStore, type StoredShift, shiftIdAt } from './shift.ts'

type ExplainingStore = Pick<ShiftStore, 'replace' | 'decided' | 'countOthers' | 'countVoted' | 'toExplainAgain'>

// A shift that goes half as far again is another one, within these limits: many votes show a small shift, and more of them hardly move its
// rate by 5 points. A large one shows in 100 votes, whose rate is uncertain by almost 10.
const minFurther = 0.05
const maxFurther = 0.1

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
  const named = namesOf(prompt, found, asDecided(before, await store.decided(prompt)))
  const shifts = await Promise.all(
    found.map(async (shift, i): Promise<StoredShift> => {
      const others = moved[i] as (typeof moved)[number]
      const hasChange = shift.entryId !== null
      // One other prompt is never enough, so that most shifts need no count.
      const all = hasChange && others.unchanged > 1 ? await store.countVoted(prompt, shift.between) : 0
      const sharedWith = isShared({ ...others, all }, hasChange) ? others.moved : null
      const { id, foundAt = now } = named[i] as (typeof named)[number]
      return { ...shift, id, sharedWith, foundAt }
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

/**
 * All known shifts, where they were found last, with the rates that people decided about: one that grows step by step is no longer the one
 * that they dismissed.
 */
function asDecided(before: readonly StoredShift[], decided: readonly KnownShift[]): KnownShift[] {
  const current = new Map(before.map((shift): [string, KnownShift] => [shift.id, shift]))
  for (const shift of decided) {
    const { at, between } = current.get(shift.id) ?? shift
    current.set(shift.id, { ...shift, at, between })
  }
  return [...current.values()]
}

/** Each shift keeps its ID and when it was found. Of two that are the same as a known one, the nearest gets its ID. */
function namesOf(
  { publicId }: Prompt,
  found: readonly FoundShift[],
  known: readonly KnownShift[],
): { id: string; foundAt?: Instant }[] {
  const taken = new Set<string>()
  const used = new Set(known.map(({ id }) => id))
  const pairs = found.flatMap((shift, place) =>
    known
      .filter((each) => isSame(each, shift))
      .map((each) => ({ place, each, distance: Math.abs(each.at - shift.at) })),
  )
  const ids = new Map<number, string>()
  for (const { place, each } of pairs.toSorted((a, b) => a.distance - b.distance)) {
    if (ids.has(place) || taken.has(each.id)) continue
    ids.set(place, each.id)
    taken.add(each.id)
  }
  return found.map((shift, place) => {
    const foundAt = pairs.find((pair) => pair.place === place)?.each.foundAt
    let id = ids.get(place)
    for (let i = 0; id === undefined; i++) {
      const free = shiftIdAt(publicId, shift.at, i)
      if (!used.has(free)) id = free
    }
    return { id, ...(foundAt !== undefined && { foundAt }) }
  })
}

/**
 * Whether it was known before: its time and its rates move a little with every vote. One that goes clearly further is another one:
 * otherwise a dismissed fall of 5 points would hide one of 50.
 */
function isSame(known: KnownShift, { between, rateBefore, rateAfter }: FoundShift): boolean {
  const overlaps = known.between[0] <= between[1] && known.between[1] >= between[0]
  const isFall = rateAfter < rateBefore
  if (!overlaps || known.rateAfter < known.rateBefore !== isFall) return false
  const further = isFall ? known.rateAfter - rateAfter : rateAfter - known.rateAfter
  return further <= Math.min(maxFurther, Math.max(minFurther, Math.abs(known.rateAfter - known.rateBefore) / 2))
}

// Rates and shares are stored in millionths.
function rounded({ id, at, between, rateBefore, rateAfter, entryId, sharedWith, candidates }: StoredShift): unknown[] {
  const shares = candidates?.changes.flatMap(({ entryId, share }) => [entryId, Math.round(share * 1e6)]) ?? null
  const rates = [rateBefore, rateAfter].map((rate) => Math.round(rate * 1e6))
  return [id, at, between, rates, entryId, sharedWith, candidates?.count ?? null, shares]
}
