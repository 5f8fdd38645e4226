import type { Instant } from '../time.ts'

/** The attributes that we use of a span, an event or their resource, by name. */
export type Attributes = ReadonlyMap<string, string | number | boolean>

/** An event that says how good an output was: a log record, or an event of a span. */
export interface EventRecord {
  /** 32 and 16 hexadecimal digits; empty if the event belongs to no span. */
  traceId: string
  spanId: string
  /** When it happened; null if it does not say. */
  at: Instant | null
  /** The same in nanoseconds, as sent. Tells events apart. */
  nanoseconds: string
  attributes: Attributes
  resource: Attributes
}

/** A span that names a prompt, or has evaluation events. */
export interface SpanRecord {
  traceId: string
  spanId: string
  /** When it started. */
  at: Instant
  attributes: Attributes
  resource: Attributes
  events: EventRecord[]
  /** How many events it has beyond `maxSpanEvents`. */
  droppedEvents: number
}

/** Bounds what one span, which is read in one go, takes. SDKs keep 128. */
export const maxSpanEvents = 1_000
