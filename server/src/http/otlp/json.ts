import { evaluationEvent, eventName, knownAttributes } from '../../domain/telemetry/attributes.ts'
import { type Attributes, type EventRecord, maxSpanEvents, type SpanRecord } from '../../domain/telemetry/record.ts'
import { instantOf, isAboutPrompt, isZero } from './protobuf.ts'
import { TooManyPartsError } from './wire.ts'

// The same messages in the JSON encoding: names in camel case, IDs in hexadecimal, and integers of 64 bits as texts or numbers. What has
// another type than the protocol says is taken as missing.

/** The spans of an ExportTraceServiceRequest, in order; null for each that is not about a prompt. */
export function* spansInJson(request: object): Generator<SpanRecord | null> {
  for (const { item, resource } of itemsIn(request, ['resourceSpans', 'scopeSpans', 'spans'])) {
    const attributes = attributesIn(item)
    const [traceId, spanId] = [idIn(item.traceId, 32), idIn(item.spanId, 16)]
    const evaluations = listIn(item, 'events').filter(({ name }) => name === evaluationEvent)
    const droppedEvents = Math.max(0, evaluations.length - maxSpanEvents)
    const events = evaluations
      .slice(0, maxSpanEvents)
      .map((event) => ({ traceId, spanId, ...timeIn(event), attributes: attributesIn(event), resource }))
    const at = instantOf(Number(nanosecondsIn(item.startTimeUnixNano))) ?? 0
    if (events.length === 0 && !isAboutPrompt(attributes, resource)) yield null
    else yield { traceId, spanId, at, attributes, resource, events, droppedEvents }
  }
}

/** The evaluation events of an ExportLogsServiceRequest, in order; null for each other record. */
export function* eventsInJson(request: object): Generator<EventRecord | null> {
  for (const { item, resource } of itemsIn(request, ['resourceLogs', 'scopeLogs', 'logRecords'])) {
    const attributes = attributesIn(item)
    if (item.eventName !== evaluationEvent && attributes.get(eventName) !== evaluationEvent) yield null
    else {
      const [traceId, spanId] = [idIn(item.traceId, 32), idIn(item.spanId, 16)]
      yield { traceId, spanId, ...timeIn(item), attributes, resource }
    }
  }
}

type Item = Record<string, unknown>

// As many as a message of protobuf may have.
const maxItems = 100_000

function* itemsIn(
  request: object,
  [resources, scopes, items]: [string, string, string],
): Generator<{ item: Item; resource: Attributes }> {
  let left = maxItems
  for (const ofResource of listIn(request as Item, resources)) {
    const resource = isObject(ofResource.resource) ? attributesIn(ofResource.resource) : new Map()
    for (const ofScope of listIn(ofResource, scopes)) {
      const found = listIn(ofScope, items)
      left -= found.length
      if (left < 0) throw new TooManyPartsError()
      for (const item of found) yield { item, resource }
    }
  }
}

function listIn(item: Item, name: string): Item[] {
  const list = item[name]
  return Array.isArray(list) ? list.filter(isObject) : []
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function attributesIn(item: Item): Attributes {
  const attributes = new Map<string, string | number | boolean>()
  for (const { key, value } of listIn(item, 'attributes')) {
    if (typeof key !== 'string' || !knownAttributes.has(key) || !isObject(value)) continue
    const { stringValue, boolValue, intValue, doubleValue } = value
    if (typeof stringValue === 'string') attributes.set(key, stringValue)
    else if (typeof boolValue === 'boolean') attributes.set(key, boolValue)
    else if (isNumeric(intValue)) attributes.set(key, Number(intValue))
    else if (isNumeric(doubleValue)) attributes.set(key, Number(doubleValue))
  }
  return attributes
}

function isNumeric(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)))
}

function timeIn(item: Item): Pick<EventRecord, 'at' | 'nanoseconds'> {
  const time = nanosecondsIn(item.timeUnixNano)
  const nanoseconds = time === '0' ? nanosecondsIn(item.observedTimeUnixNano) : time
  return { at: instantOf(Number(nanoseconds)), nanoseconds }
}

/** As text, because a number would not be exact. */
function nanosecondsIn(value: unknown): string {
  return isNumeric(value) && /^\d{1,20}$/.test(String(value)) ? String(value) : '0'
}

/** Empty if it is no ID of this length, or zero. */
function idIn(value: unknown, length: number): string {
  const isId = typeof value === 'string' && value.length === length && /^[0-9a-f]+$/i.test(value)
  return isId && !isZero(value) ? value.toLowerCase() : ''
}
