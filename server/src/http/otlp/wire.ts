/** The bytes are no message of the format. */
export class MalformedError extends Error {}

/** The message has more parts than a request may have. */
export class TooManyPartsError extends Error {}

/**
 * How much of a message may still be read. Compressed, millions of empty parts are a few kilobytes, and reading them would take seconds.
 * The parts of one item, which is read in one go, are bounded on their own.
 */
interface Budget {
  total: number
  ofItem: number
}

// Ten times what a full request of real spans has.
const maxFields = 1_000_000
// A span of an SDK has up to 128 attributes, and as many events.
const maxFieldsOfItem = 50_000

/** Starts the next item, which costs as much as this many fields, beside those that it has. */
export function startItem(budget: Budget, cost: number): void {
  budget.total -= cost + maxFieldsOfItem - budget.ofItem
  budget.ofItem = maxFieldsOfItem
  if (budget.total < 0) throw new TooManyPartsError()
}

/**
 * A place in a protobuf message, and the field that was read last. Only values that are used are decoded, so a message costs what
 * its fields do, however many it has and however deep they are nested: see docs/decisions/0121.
 */
export interface Cursor {
  readonly bytes: Buffer
  at: number
  readonly end: number
  readonly budget: Budget
  field: number
  type: number
  /** Where the value of the field begins and ends. */
  from: number
  until: number
}

const varintType = 0
const fixed64Type = 1
export const bytesType = 2
const fixed32Type = 5

export function cursorOf(bytes: Buffer): Cursor {
  return cursorAt(bytes, 0, bytes.length, { total: maxFields, ofItem: maxFieldsOfItem })
}

function cursorAt(bytes: Buffer, at: number, end: number, budget: Budget): Cursor {
  return { bytes, at, end, budget, field: 0, type: 0, from: 0, until: 0 }
}

/** The message in the field that was read last. */
export function messageOf({ bytes, type, from, until, budget }: Cursor): Cursor {
  if (type !== bytesType) throw new MalformedError('A field does not have the type of a message')
  return cursorAt(bytes, from, until, budget)
}

/** Moves to the next field. False at the end of the message. */
export function nextField(cursor: Cursor): boolean {
  if (cursor.at >= cursor.end) return false
  if (cursor.budget.ofItem-- === 0) throw new TooManyPartsError()
  const tag = readVarint(cursor)
  cursor.type = tag & 7
  cursor.field = tag >>> 3
  if (cursor.field === 0) throw new MalformedError('A field has the number 0')
  switch (cursor.type) {
    case varintType:
      cursor.from = cursor.at
      readVarint(cursor)
      break
    case bytesType: {
      const length = readVarint(cursor)
      cursor.from = cursor.at
      cursor.at += length
      break
    }
    case fixed64Type:
    case fixed32Type:
      cursor.from = cursor.at
      cursor.at += cursor.type === fixed64Type ? 8 : 4
      break
    default:
      throw new MalformedError(`A field has the unknown type ${cursor.type}`)
  }
  if (cursor.at > cursor.end) throw new MalformedError('A field ends after its message')
  cursor.until = cursor.at
  return true
}

/** Advances over a varint of up to 64 bits. Its value is exact up to 2^53. */
function readVarint(cursor: Cursor): number {
  const { bytes, end } = cursor
  let value = 0
  let factor = 1
  for (let length = 0; length < 10; length++) {
    if (cursor.at >= end) throw new MalformedError('The message ends within a number')
    const byte = bytes[cursor.at++] as number
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
    factor *= 128
  }
  throw new MalformedError('A number has more than 64 bits')
}

/** A signed integer of 64 bits. Inexact beyond 2^53. */
export function integerOf({ bytes, type, from, until, budget }: Cursor): number {
  if (type !== varintType) throw new MalformedError('A field does not have the type of an integer')
  const value = readVarint(cursorAt(bytes, from, until, budget))
  return until - from === 10 ? value - 2 ** 64 : value
}

export function doubleOf({ bytes, type, from }: Cursor): number {
  if (type !== fixed64Type) throw new MalformedError('A field does not have the type of a double')
  return bytes.readDoubleLE(from)
}

/** The text of a field. Invalid UTF-8 becomes U+FFFD, which no name of ours contains. */
export function textOf({ bytes, type, from, until }: Cursor): string {
  if (type !== bytesType) throw new MalformedError('A field does not have the type of a text')
  return bytes.toString('utf8', from, until)
}

export function hexOf({ bytes, from, until }: Cursor): string {
  return bytes.toString('hex', from, until)
}

/** Nanoseconds since 1970, as a number, which is exact to a microsecond, and as text, which is exact. */
export function nanosecondsOf({ bytes, type, from }: Cursor): { value: number; text: string } {
  if (type !== fixed64Type) throw new MalformedError('A field does not have the type of a time')
  return {
    value: bytes.readUInt32LE(from) + bytes.readUInt32LE(from + 4) * 2 ** 32,
    text: bytes.readBigUInt64LE(from).toString(),
  }
}
