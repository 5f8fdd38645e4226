import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { OTLPLogExporter as JsonLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

export const encodings = ['protobuf', 'json'] as const

type Attributes = Record<string, string | number | boolean>

const exporters = {
  protobuf: { logs: ProtobufLogExporter, traces: ProtobufTraceExporter },
  json: { logs: JsonLogExporter, traces: JsonTraceExporter },
}

/** An application with the official SDK of OpenTelemetry, which sends to this address. */
export function startApplication(
  address: string,
  key: string,
  encoding: (typeof encodings)[number],
  compression: 'gzip' | 'none' = 'none',
) {
  const options = (path: string) =>
    ({ url: `${address}${path}`, headers: { authorization: `Bearer ${key}` }, compression }) as never
  const { logs, traces } = exporters[encoding]
  const loggers = new LoggerProvider({
    processors: [new BatchLogRecordProcessor({ exporter: new logs(options('/v1/logs')) } as never)],
  })
  const tracers = new NodeTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new traces(options('/v1/traces')))],
  })

  return {
    /** Says how good an output was, within the span of `parent` if there is one. */
    evaluate(attributes: Attributes, parent: Context = ROOT_CONTEXT): void {
      loggers.getLogger('test').emit({ eventName: 'gen_ai.evaluation.result', attributes, context: parent })
    },
    /** Calls a model. Returns the context of its span, and its trace. */
    call(attributes: Attributes): { parent: Context; traceId: string } {
      const span = tracers.getTracer('test').startSpan('chat', { attributes }, ROOT_CONTEXT)
      span.end()
      return { parent: trace.setSpan(context.active(), span), traceId: span.spanContext().traceId }
    },
    sendLogs: () => loggers.forceFlush(),
    sendSpans: () => tracers.forceFlush(),
    async stop() {
      await Promise.all([loggers.shutdown(), tracers.shutdown()])
    },
  }
}

type Json = { [name: string]: unknown }

/** The messages of the protocol that requests consist of: the number and type of each field, by its name in JSON. */
const messages: Record<string, Record<string, [number, string]>> = {
  request: { resourceSpans: [1, 'ofResource'], resourceLogs: [1, 'ofResource'] },
  ofResource: {
    resource: [1, 'resource'],
    scopeSpans: [2, 'ofScope'],
    scopeLogs: [2, 'ofScope'],
    schemaUrl: [3, 'text'],
  },
  resource: { attributes: [1, 'pair'] },
  ofScope: { scope: [1, 'scope'], spans: [2, 'span'], logRecords: [2, 'log'] },
  scope: { name: [1, 'text'], version: [2, 'text'], attributes: [3, 'pair'] },
  span: {
    ...{
      traceId: [1, 'bytes'],
      spanId: [2, 'bytes'],
      parentSpanId: [4, 'bytes'],
      name: [5, 'text'],
      kind: [6, 'integer'],
    },
    ...{ startTimeUnixNano: [7, 'fixed'], endTimeUnixNano: [8, 'fixed'], attributes: [9, 'pair'] },
  },
  log: {
    ...{ timeUnixNano: [1, 'fixed'], severityNumber: [2, 'integer'], severityText: [3, 'text'], body: [5, 'value'] },
    ...{ attributes: [6, 'pair'], traceId: [9, 'bytes'], spanId: [10, 'bytes'], observedTimeUnixNano: [11, 'fixed'] },
    eventName: [12, 'text'],
  },
  pair: { key: [1, 'text'], value: [2, 'value'] },
  value: {
    ...{ stringValue: [1, 'text'], boolValue: [2, 'integer'], intValue: [3, 'integer'], doubleValue: [4, 'double'] },
    ...{ arrayValue: [5, 'list'], kvlistValue: [6, 'map'], bytesValue: [7, 'text'] },
  },
  list: { values: [1, 'value'] },
  map: { values: [1, 'pair'] },
}

/** A request in JSON, with hexadecimal IDs, as the same request in protobuf. */
export function toProtobuf(message: Json, type = 'request'): Buffer {
  const fields = messages[type] ?? {}
  return Buffer.concat(
    Object.entries(message).flatMap(([name, value]) => {
      const [number, type] = fields[name] ?? [0, name]
      return [value].flat().map((each) => encode(number, type, each))
    }),
  )
}

function encode(number: number, type: string, value: unknown): Buffer {
  const tagged = (wireType: number, bytes: Buffer) => Buffer.concat([varint(BigInt(number * 8 + wireType)), bytes])
  if (type === 'integer') return tagged(0, varint(BigInt(Number(value))))
  if (type === 'fixed' || type === 'double') {
    const bytes = Buffer.alloc(8)
    if (type === 'double') bytes.writeDoubleLE(value as number)
    else bytes.writeBigUInt64LE(BigInt(value as number))
    return tagged(1, bytes)
  }
  const encoding = type === 'bytes' ? 'hex' : 'utf8'
  const bytes = typeof value === 'string' ? Buffer.from(value, encoding) : toProtobuf(value as Json, type)
  return tagged(2, Buffer.concat([varint(BigInt(bytes.length)), bytes]))
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) + 128)
  return Buffer.from([...bytes, Number(value)])
}
