import { randomInt } from 'node:crypto'
import { invalid } from './errors.ts'

/** What a large JSON text may have, in thousands. JSON.parse stores each different name of a member: 10,000 take it 10 ms. */
interface JsonLimits {
  containers: number
  members: number
  names: number
}

// Metadata may be 64 levels deep. A thousand signals have 100 objects and arrays, 100 members and 10 names of their own each, which
// take 30 ms to parse.
const maxDepth = 128
const batchLimits: JsonLimits = { containers: 100, members: 100, names: 10 }

const [quote, backslash, colon, space] = [0x22, 0x5c, 0x3a, 0x20]
const [bracket, brace] = [0x5b, 0x7b]
// In ASCII, two after the character that opens it.
const [closingBracket, closingBrace] = [bracket + 2, brace + 2]

/** Rejects a large text of little but brackets or members, on which JSON.parse would spend half a second. */
export function limitContainers(json: Buffer, limits = batchLimits): void {
  const names = new Set<number>()
  let [depth, containers, members] = [0, 0, 0]
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === quote) {
      const start = at
      do at += json[at] === backslash ? 2 : 1
      while (at < json.length && json[at] !== quote)
      const end = at
      while ((json[at + 1] as number) <= space) at++
      if (json[at + 1] !== colon) continue
      names.add(hashOf(json, start, end))
      if (++members > limits.members * 1_000) throw tooMany(limits.members, 'members')
      if (names.size > limits.names * 1_000) throw tooMany(limits.names, 'different names of members')
    } else if (character === bracket || character === brace) {
      depth++
      if (depth > maxDepth) throw invalid(`The body is nested more than ${maxDepth} levels deep`)
      if (++containers > limits.containers * 1_000) throw tooMany(limits.containers, 'objects and arrays')
    } else if (character === closingBracket || character === closingBrace) depth--
  }
}

// Odd, and unknown to senders, who could otherwise choose names with the same hash.
const factor = 2 * randomInt(2 ** 31) + 1

function hashOf(json: Buffer, start: number, end: number): number {
  let hash = 0
  for (let at = start; at < end; at++) hash = Math.imul(hash + (json[at] as number), factor)
  // Below 2^31, which V8 stores without a heap number.
  return hash >>> 2
}

function tooMany(thousands: number, parts: string): Error {
  return invalid(`The body has more than ${thousands},000 ${parts}: split it into several requests`)
}
