/** Limits how many pull requests one sync searches for. The next sync continues with older ones. */
export interface BranchBudget {
  /** Those of the pull requests that this sync reads: the newest that no sync has read yet, at most `max`. */
  select(numbers: Iterable<number>, max?: number): ReadonlySet<number>
  /** The numbers in the order in which to read them, so that a sync that runs out of time or memory leaves older ones. */
  inOrder(numbers: Iterable<number>): number[]
  /** Leaves these pull requests, and with them all older ones, for the next sync. */
  leave(numbers: Iterable<number>): void
  /** Pull requests with lower numbers are left for the next sync; null if none are. */
  unreadBelow(): number | null
}

export const maxBranchesPerSync = 10_000

/** `below` is where the last sync stopped; null for all pull requests. */
export function createBranchBudget(below: number | null, size: number): BranchBudget {
  let unreadBelow: number | null = null
  const isUnread = (number: number) => below === null || number < below
  return {
    select(numbers, max = size) {
      const open = [...new Set(numbers)].filter(isUnread).sort((a, b) => b - a)
      const selected = open.slice(0, Math.min(max, size))
      if (selected.length < open.length) unreadBelow = Math.max(unreadBelow ?? 0, selected.at(-1) ?? 0)
      return new Set(selected)
    },
    inOrder(numbers) {
      const newestFirst = [...numbers].sort((a, b) => b - a)
      return [...newestFirst.filter(isUnread), ...newestFirst.filter((number) => !isUnread(number))]
    },
    leave(numbers) {
      for (const number of numbers) {
        if (!isUnread(number)) continue
        // Each sync gets further, or it would be repeated for ever.
        const next = Math.min(number + 1, (below ?? Number.POSITIVE_INFINITY) - 1)
        unreadBelow = Math.max(unreadBelow ?? 0, next)
      }
    },
    unreadBelow: () => unreadBelow,
  }
}
