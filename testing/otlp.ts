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
