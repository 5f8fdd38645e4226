import { createBoundedMap } from './bounded-map.ts'
import { hour } from './time.ts'

/** The use of a slot by one organisation. */
export interface Turn {
  readonly organisationId: number
  readonly startedAt: number
}

/** Shares the slots of background work between organisations. */
export interface Turns {
  /** The same in the order in which they are served: those of the organisations that used the slots least come first. */
  order<T extends { organisationId: number }>(waiting: Iterable<T>): T[]
  hasRoom(organisationId: number): boolean
  start(organisationId: number): Turn
  end(turn: Turn): void
  /** The turns to end early, so that these organisations, which wait, get a slot. */
  inTheWayOf(waiting: Iterable<number>): Turn[]
  running(): number
}

export interface TurnOptions {
  slots: number
  slotsPerOrganisation: number
  /** An organisation whose work takes longer than this is slow. */
  quickMs: number
  /** Work that takes longer than this ends if others wait. */
  maxMs?: number
  /** A clock that never goes back. */
  now?: () => number
}

// About 100 bytes each.
const rememberedOrganisations = 10_000
const slowForMs = hour
const halfLifeMs = hour

interface Use {
  /** How long it used slots. Halves in an hour, as of `at`. */
  ms: number
  at: number
  slowUntil: number
}

const unused: Use = { ms: 0, at: 0, slowUntil: Number.NEGATIVE_INFINITY }

/**
 * Slots go to the organisation that used them least lately, so that nothing is gained by having much to do, or by being many. Those
 * whose work was slow in the last hour, such as because a server of theirs never responds, share half of the slots: however many
 * they are, the rest of the organisations never wait for them for longer than they take to be found slow.
 */
export function createTurns(options: TurnOptions): Turns {
  const {
    slots,
    slotsPerOrganisation,
    quickMs,
    maxMs = Number.POSITIVE_INFINITY,
    now = () => performance.now(),
  } = options
  const slowSlots = Math.max(1, Math.floor(slots / 2))
  const uses = createBoundedMap<Use>(rememberedOrganisations)
  const running = new Set<Turn>()

  const useOf = (organisationId: number) => uses.get(String(organisationId)) ?? unused
  const isLong = ({ startedAt }: Turn) => now() - startedAt > quickMs
  const turnsOf = (organisationId: number) => [...running].filter((turn) => turn.organisationId === organisationId)

  function isSlow(organisationId: number): boolean {
    return useOf(organisationId).slowUntil > now() || turnsOf(organisationId).some(isLong)
  }

  /** Without the turns in progress. */
  function usedMs(organisationId: number): number {
    const { ms, at } = useOf(organisationId)
    return ms * 2 ** ((at - now()) / halfLifeMs)
  }

  const slowTurns = () => [...running].filter(({ organisationId }) => isSlow(organisationId))

  function hasRoom(organisationId: number): boolean {
    if (running.size >= slots || turnsOf(organisationId).length >= slotsPerOrganisation) return false
    return !isSlow(organisationId) || slowTurns().length < slowSlots
  }

  return {
    order(waiting) {
      const inProgress = Map.groupBy(running, ({ organisationId }) => organisationId)
      const listed = [...waiting].map((item) => {
        const turns = inProgress.get(item.organisationId) ?? []
        const ms = turns.reduce((sum, { startedAt }) => sum + now() - startedAt, usedMs(item.organisationId))
        return { item, ms }
      })
      return listed.sort((a, b) => a.ms - b.ms).map(({ item }) => item)
    },

    hasRoom,

    start(organisationId) {
      const turn = { organisationId, startedAt: now() }
      running.add(turn)
      return turn
    },

    end(turn) {
      if (!running.delete(turn)) return
      const { organisationId, startedAt } = turn
      const [at, ms] = [now(), usedMs(organisationId) + now() - startedAt]
      const slowUntil = isLong(turn) ? at + slowForMs : useOf(organisationId).slowUntil
      uses.set(String(organisationId), { ms, at, slowUntil })
    },

    inTheWayOf(waiting) {
      const blocked = [...waiting].filter(
        (organisationId) => turnsOf(organisationId).length < slotsPerOrganisation && !hasRoom(organisationId),
      )
      if (blocked.length === 0) return []
      const slow = slowTurns()
      const tooLong = slow.filter(({ startedAt }) => now() - startedAt > maxMs)
      // They started before they were found slow. Those that have run for longest stay.
      const isQuickBlocked = blocked.some((organisationId) => !isSlow(organisationId))
      const tooMany = isQuickBlocked ? slow.filter(isLong).slice(slowSlots) : []
      return [...new Set([...tooLong, ...tooMany])]
    },

    running: () => running.size,
  }
}
