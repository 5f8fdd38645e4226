import { evaluationEvent, eventName, knownAttributes, promptAttributes } from '../../domain/telemetry/attributes.ts'
import { type Attributes, type EventRecord, maxSpanEvents, type SpanRecord } from '../../domain/telemetry/record.ts'
import type { Instant } from '../../domain/time.ts'
import {
  bytesType,
  type Cursor,
  cursorOf,
  doubleOf,
  hexOf,
  integerOf,
  messageOf,
  nanosecondsOf,
  nextField,
  startItem,
  textOf,
} from './wire.ts'

// The numbers of fields are those of opentelemetry-proto: collector, common, resource, trace and logs, each v1.

/** The spans of an ExportTraceServiceRequest, in order; null for each that is not about a prompt. */
export function* spansIn(bytes: Buffer): Generator<SpanRecord | null> {
  for (const { item, resource } of itemsIn(bytes)) yield spanIn(item, resource)
}

/** The evaluation events of an ExportLogsServiceRequest, in order; null for each other record. */
export function* eventsIn(bytes: Buffer): Generator<EventRecord | null> {
  for (const { item, resource } of itemsIn(bytes)) yield logRecordIn(item, resource)
}

// How many fields each takes the time of.
const groupCost = 50
const itemCost = 10

/** Both requests have the same shape: resources, scopes and their items. */
function* itemsIn(bytes: Buffer): Generator<{ item: Cursor; resource: Attributes }> {
  const request = cursorOf(bytes)
  const { budget } = request
  while (nextField(request)) {
    if (request.field !== 1) continue
    startItem(budget, groupCost)
    const resource = resourceIn(messageOf(request))
    const ofResource = messageOf(request)
    while (nextField(ofResource)) {
      if (ofResource.field !== 2) continue
      startItem(budget, groupCost)
      const ofScope = messageOf(ofResource)
      while (nextField(ofScope)) {
        if (ofScope.field !== 2) continue
        startItem(budget, itemCost)
        yield { item: messageOf(ofScope), resource }
      }
    }
  }
}

/** Read first, because it may come after what belongs to it. */
function resourceIn(ofResource: Cursor): Attributes {
  const attributes = new Map<string, string | number | boolean>()
  while (nextField(ofResource)) {
    if (ofResource.field !== 1) continue
    const resource = messageOf(ofResource)
    while (nextField(resource)) if (resource.field === 1) addAttribute(attributes, messageOf(resource))
  }
  return attributes
}

function spanIn(span: Cursor, resource: Attributes): SpanRecord | null {
  const attributes = new Map<string, string | number | boolean>()
  let [traceId, spanId, at] = ['', '', 0]
  const events: EventRecord[] = []
  let droppedEvents = 0
  while (nextField(span)) {
    switch (span.field) {
      case 1:
        traceId = idIn(span, 16)
        break
      case 2:
        spanId = idIn(span, 8)
        break
      case 7:
        at = instantOf(nanosecondsOf(span).value) ?? 0
        break
      case 9:
        addAttribute(attributes, messageOf(span))
        break
      case 11: {
        if (events.length >= maxSpanEvents) {
          droppedEvents++
          break
        }
        const event = spanEventIn(messageOf(span), resource)
        if (event !== null) events.push(event)
      }
    }
  }
  if (events.length === 0 && !isAboutPrompt(attributes, resource)) return null
  for (const event of events) Object.assign(event, { traceId, spanId })
  return { traceId, spanId, at, attributes, resource, events, droppedEvents }
}

export function isAboutPrompt(attributes: Attributes, resource: Attributes): boolean {
  const isNamed = promptAttributes.some((name) => attributes.has(name))
  // The name on the resource is for calls of models, not for all other work of the process.
  return isNamed || (resource.size > 0 && attributes.size > 0 && resource.has(promptAttributes[0] as string))
}

function spanEventIn(event: Cursor, resource: Attributes): EventRecord | null {
  const attributes = new Map<string, string | number | boolean>()
  let time = noTime
  let name = ''
  while (nextField(event)) {
    if (event.field === 1) time = nanosecondsOf(event)
    else if (event.field === 2 && isEvaluation(event)) name = evaluationEvent
    else if (event.field === 3) addAttribute(attributes, messageOf(event))
  }
  if (name === '') return null
  return { traceId: '', spanId: '', at: instantOf(time.value), nanoseconds: time.text, attributes, resource }
}

function logRecordIn(record: Cursor, resource: Attributes): EventRecord | null {
  const attributes = new Map<string, string | number | boolean>()
  let [traceId, spanId, name] = ['', '', '']
  let [time, observed] = [noTime, noTime]
  while (nextField(record)) {
    switch (record.field) {
      case 1:
        time = nanosecondsOf(record)
        break
      case 6:
        addAttribute(attributes, messageOf(record))
        break
      case 9:
        traceId = idIn(record, 16)
        break
      case 10:
        spanId = idIn(record, 8)
        break
      case 11:
        observed = nanosecondsOf(record)
        break
      case 12:
        if (isEvaluation(record)) name = evaluationEvent
    }
  }
  if (name === '' && attributes.get(eventName) !== evaluationEvent) return null
  const { value, text } = time.value === 0 ? observed : time
  return { traceId, spanId, at: instantOf(value), nanoseconds: text, attributes, resource }
}

const noTime = { value: 0, text: '0' }

function isEvaluation(cursor: Cursor): boolean {
  return cursor.until - cursor.from === evaluationEvent.length && textOf(cursor) === evaluationEvent
}

export function instantOf(nanoseconds: number): Instant | null {
  return nanoseconds === 0 ? null : Math.floor(nanoseconds / 1e6)
}

/** Empty if it has another length or is zero, as for an event without a span. */
function idIn(cursor: Cursor, length: number): string {
  const id = cursor.type === bytesType && cursor.until - cursor.from === length ? hexOf(cursor) : ''
  return isZero(id) ? '' : id
}

export function isZero(id: string): boolean {
  return id[0] === '0' && /^0+$/.test(id)
}

const knownLengths = new Set([...knownAttributes].map((name) => name.length))

/** Adds a KeyValue, if it is one that we use and its value is a scalar. */
function addAttribute(attributes: Map<string, string | number | boolean>, pair: Cursor): void {
  let name: string | null = null
  let value: Cursor | null = null
  while (nextField(pair)) {
    if (pair.field === 1) {
      // Most are others, whose names need not be decoded.
      if (!knownLengths.has(pair.until - pair.from)) return
      name = textOf(pair)
      if (!knownAttributes.has(name)) return
    } else if (pair.field === 2) value = messageOf(pair)
  }
  if (name === null || value === null) return
  while (nextField(value)) {
    if (value.field === 1) attributes.set(name, textOf(value))
    else if (value.field === 2) attributes.set(name, integerOf(value) !== 0)
    else if (value.field === 3) attributes.set(name, integerOf(value))
    else if (value.field === 4) attributes.set(name, doubleOf(value))
  }
}
