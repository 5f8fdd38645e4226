import { invalid } from '../../domain/errors.ts'
import { overloaded } from '../errors.ts'

/** The body of a request whose caller is not known yet, from when it is asked for until the caller is known or has a response. */
export interface StrangerBody {
  origin: Origin
  bytes: number
  startedAt: number
  /** Ends a body that is still arriving; null once it has arrived. */
  abort: ((error: Error) => void) | null
  /** Those that it counts for, from `add` on. */
  groups: Group[]
}

/** Bodies that share a limit: those to one target, those from one network, or all. */
interface Group {
  name: string
  bodies: Set<StrangerBody>
  bytes: number
  room: Room
}

interface Room {
  bodies: number
  bytes: number
}

interface StrangerLimits {
  all: Room
  /** `bytes` are in addition to the longest body that the target accepts. */
  perTarget: Room
  perNetwork: Room
  perWiderNetwork: Room
}

interface Origin {
  target: string
  /** Of the target. */
  bodyLimit: number
  /** The network of the client and the wider one around it. */
  networks: readonly [string, string]
}

/**
 * Limits the bodies that strangers send: those that have to be read before it is known who sent them. What counts is what has arrived,
 * not what was announced. Beyond a limit of places the slowest body is rejected, and beyond one of bytes the largest, rather than the
 * newest. So ordinary requests succeed while an attacker sends large bodies, or sends nothing.
 */
export interface StrangerBodies {
  add(body: StrangerBody): void
  receive(body: StrangerBody, bytes: number): void
  remove(body: StrangerBody): void
}

const megabyte = 1024 * 1024

export const strangerLimits: StrangerLimits = {
  all: { bodies: 500, bytes: 32 * megabyte },
  perTarget: { bodies: 250, bytes: 3 * megabyte },
  perNetwork: { bodies: 125, bytes: 28 * megabyte },
  perWiderNetwork: { bodies: 250, bytes: 30 * megabyte },
}

const minBytesPerSecond = 64 * 1024
// A connection may take this long to get going before the rate counts.
const graceMs = 5_000
const checkIntervalMs = 1_000
const tooSlow = invalid(`The body arrives too slowly: send at least ${minBytesPerSecond} bytes a second`)

/** `onReject` is called for each body that makes room for others. */
export function createStrangerBodies(limits: StrangerLimits, onReject: () => void): StrangerBodies {
  const all: Group = { name: '', bodies: new Set(), bytes: 0, room: limits.all }
  const groups = new Map<string, Group>()
  let timer: NodeJS.Timeout | undefined

  function groupOf(name: string, room: Room): Group {
    const group = groups.get(name) ?? { name, bodies: new Set(), bytes: 0, room }
    groups.set(name, group)
    return group
  }

  function makeRoom(group: Group): void {
    const { bodies, room } = group
    while (bodies.size > room.bodies && rejectFirst(bodies, bySpeed)) {}
    while (group.bytes > room.bytes && rejectFirst(bodies, bySize)) {}
  }

  /** Rejects the arriving body with the lowest rank. False if all have arrived. */
  function rejectFirst(bodies: Set<StrangerBody>, rankBy: (body: StrangerBody, now: number) => number): boolean {
    const now = performance.now()
    let first: StrangerBody | null = null
    let lowest = Number.POSITIVE_INFINITY
    for (const body of bodies) {
      if (body.abort === null) continue
      const rank = rankBy(body, now)
      if (rank >= lowest) continue
      first = body
      lowest = rank
    }
    if (first === null) return false
    end(first, overloaded)
    onReject()
    return true
  }

  function end(body: StrangerBody, error: Error): void {
    body.abort?.(error)
    remove(body)
  }

  function rejectSlow(): void {
    const now = performance.now()
    for (const body of all.bodies) {
      const countedMs = now - body.startedAt - graceMs
      if (body.abort === null || body.bytes >= (minBytesPerSecond * countedMs) / 1_000) continue
      end(body, tooSlow)
    }
  }

  function remove(body: StrangerBody): void {
    if (!all.bodies.has(body)) return
    for (const group of body.groups) {
      group.bodies.delete(body)
      group.bytes -= body.bytes
      if (group.bodies.size === 0) groups.delete(group.name)
    }
    if (all.bodies.size === 0) clearInterval(timer)
  }

  return {
    add(body) {
      const { target, bodyLimit, networks } = body.origin
      const { perTarget, perNetwork, perWiderNetwork } = limits
      body.groups = [
        groupOf(`to ${target}`, { bodies: perTarget.bodies, bytes: perTarget.bytes + bodyLimit }),
        groupOf(`from ${networks[0]}`, perNetwork),
        groupOf(`from around ${networks[1]}`, perWiderNetwork),
        all,
      ]
      if (all.bodies.size === 0) timer = setInterval(rejectSlow, checkIntervalMs).unref()
      for (const group of body.groups) group.bodies.add(body)
      for (const group of body.groups) makeRoom(group)
    },
    receive(body, bytes) {
      body.bytes += bytes
      for (const group of body.groups) group.bytes += bytes
      for (const group of body.groups) makeRoom(group)
    },
    remove,
  }
}

const startBytes = minBytesPerSecond
const startMs = 1_000

/** As if each had started a second earlier at the lowest rate: a body that has just started is faster than one that has stalled. */
function bySpeed({ bytes, startedAt }: StrangerBody, now: number): number {
  return (bytes + startBytes) / (now - startedAt + startMs)
}

function bySize({ bytes }: StrangerBody): number {
  return -bytes
}
