import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The requests of one organisation, of one kind: those at work and those that wait. */
export interface Lane {
  /** The weights of the requests at work. */
  running: number
  /** By key, in the order in which the keys get their turns. */
  waiting: Map<number, Waiting[]>
  /** After a request that blocked the event loop for long, so that the others catch up. */
  isResting: boolean
  restsUntil: number
  /** The size of its large responses that clients have not read yet. */
  unreadBytes: number
  unreadBytesByKey: Map<number, number>
  /** The connections of these responses, without those that were told to hurry. */
  readers: Set<Socket>
}

interface Waiting {
  lane: Lane
  weight: number
  start: () => void
}

/**
 * Shares the event loop and the database among organisations. Each organisation has a limited number of requests at work;
 * the rest wait, and organisations and their keys take turns. So a client waits behind the requests of its own key and not
 * behind everyone's. They also wait while clients leave too much unread, because each would add its own response.
 */
interface FairQueue {
  /** Starts a request now, or returns false if it has to wait. */
  tryEnter(lane: Lane, keyId: number, weight: number): boolean
  /** Starts a request now, which returns undefined, or resolves when its turn has come. */
  enter(lane: Lane, keyId: number, weight: number): Promise<void> | undefined
  leave(lane: Lane, weight: number): void
  /** Starts no request of the lane for so long, and after what it rests already. */
  rest(lane: Lane, ms: number): void
  /** Counts a large response until `removeUnread`. */
  addUnread(lane: Lane, keyId: number, bytes: number, socket: Socket): void
  removeUnread(lane: Lane, keyId: number, bytes: number, socket: Socket): void
}

export const lightWeight = 1
/** Requests that query more than one row, or do more than add one. */
export const heavyWeight = 8

const megabyte = 1024 * 1024
// Node holds a response that it cannot send as a string and as a buffer of up to three times its length.
const maxUnreadBytes = 8 * megabyte
const maxUnreadBytesPerKey = maxUnreadBytes / 2
// Of all organisations together. Beyond it, those that leave more than a little unread have to wait.
const maxUnreadBytesOfAll = 32 * megabyte
const littleUnreadBytes = megabyte
/** A client that reads nothing for this long is disconnected if requests of its organisation wait for that. */
export const unreadTimeoutMs = 2_000

// After this time, connections are read and other work gets its turn before more requests start.
const sliceMs = 2
// An organisation whose request blocked the event loop for longer than this rests for the same time.
const maxBlockingMs = 10

export function createLane(): Lane {
  return {
    running: 0,
    waiting: new Map(),
    isResting: false,
    restsUntil: 0,
    unreadBytes: 0,
    unreadBytesByKey: new Map(),
    readers: new Set(),
  }
}

/** `maxRunning` is the weight that one organisation may have at work, for each kind of request. */
export function createFairQueue(maxRunning: number): FairQueue {
  // The lanes with waiting requests, in the order of their turns.
  const contended = new Set<Lane>()
  let isDispatching = false
  let unreadBytesOfAll = 0

  function canStart({ running }: Lane, weight: number): boolean {
    return running === 0 || running + weight <= maxRunning
  }

  function hasRoomForResponse({ unreadBytes, unreadBytesByKey }: Lane, keyId: number): boolean {
    if (unreadBytes === 0) return true
    const max = unreadBytesOfAll > maxUnreadBytesOfAll ? littleUnreadBytes : maxUnreadBytes
    return unreadBytes <= max && (unreadBytesByKey.get(keyId) ?? 0) <= maxUnreadBytesPerKey
  }

  function tryEnter(lane: Lane, keyId: number, weight: number): boolean {
    // Heavy requests start one by one, so that the time of each is known before the next one starts.
    if (weight !== lightWeight || lane.waiting.size > 0) return false
    if (!canStart(lane, weight) || !hasRoomForResponse(lane, keyId)) return false
    lane.running += weight
    return true
  }

  function countUnread(lane: Lane, keyId: number, bytes: number): void {
    unreadBytesOfAll += bytes
    lane.unreadBytes += bytes
    const ofKey = (lane.unreadBytesByKey.get(keyId) ?? 0) + bytes
    if (ofKey === 0) lane.unreadBytesByKey.delete(keyId)
    else lane.unreadBytesByKey.set(keyId, ofKey)
  }

  /** Starts the waiting requests as far as the limits allow. */
  async function dispatch(): Promise<void> {
    isDispatching = true
    await nextTurn()
    let sliceStart = performance.now()
    for (let next = takeNext(); next !== null; next = takeNext()) {
      const start = performance.now()
      next.start()
      await synchronousPart()
      const end = performance.now()
      if (end - start > maxBlockingMs) rest(next.lane, end - start)
      if (end - sliceStart < sliceMs) continue
      await nextTurn()
      sliceStart = performance.now()
    }
    isDispatching = false
  }

  function wake(): void {
    if (!isDispatching) void dispatch()
  }

  function rest(lane: Lane, ms: number): void {
    lane.restsUntil = Math.max(lane.restsUntil, performance.now()) + ms
    if (lane.isResting) return
    lane.isResting = true
    contended.delete(lane)
    const goOn = () => {
      const leftMs = lane.restsUntil - performance.now()
      if (leftMs >= 1) {
        setTimeout(goOn, leftMs)
        return
      }
      lane.isResting = false
      if (lane.waiting.size > 0) contended.add(lane)
      wake()
    }
    setTimeout(goOn, ms)
  }

  function takeNext(): Waiting | null {
    for (const lane of contended) {
      const next = takeFrom(lane)
      if (next !== null) return next
    }
    return null
  }

  function takeFrom(lane: Lane): Waiting | null {
    for (const [keyId, queue] of lane.waiting) {
      const [next] = queue as [Waiting]
      if (!hasRoomForResponse(lane, keyId)) {
        hurry(lane)
        continue
      }
      if (!canStart(lane, next.weight)) return null
      queue.shift()
      // Key and lane move to the end of their lines.
      lane.waiting.delete(keyId)
      if (queue.length > 0) lane.waiting.set(keyId, queue)
      contended.delete(lane)
      if (lane.waiting.size > 0) contended.add(lane)
      lane.running += next.weight
      return next
    }
    return null
  }

  return {
    tryEnter,
    enter(lane, keyId, weight) {
      if (tryEnter(lane, keyId, weight)) return undefined
      return new Promise((start) => {
        const queue = lane.waiting.get(keyId)
        if (queue === undefined) lane.waiting.set(keyId, [{ lane, weight, start }])
        else queue.push({ lane, weight, start })
        if (!lane.isResting) contended.add(lane)
        wake()
      })
    },
    leave(lane, weight) {
      lane.running -= weight
      if (lane.waiting.size > 0) wake()
    },
    rest,
    addUnread(lane, keyId, bytes, socket) {
      countUnread(lane, keyId, bytes)
      lane.readers.add(socket)
    },
    removeUnread(lane, keyId, bytes, socket) {
      countUnread(lane, keyId, -bytes)
      lane.readers.delete(socket)
      if (contended.size > 0) wake()
    },
  }
}

/** Each connection once, because the time starts again with every call. Node extends it while the client reads. */
function hurry({ readers }: Lane): void {
  for (const socket of readers) if (socket instanceof Socket) socket.setTimeout(unreadTimeoutMs)
  readers.clear()
}

/** Resolves when a request that has just started waits for something outside this process, or is done. */
export function synchronousPart(): Promise<void> {
  // Node runs `nextTick` callbacks after all pending promise callbacks.
  return new Promise((resolve) => process.nextTick(resolve))
}
