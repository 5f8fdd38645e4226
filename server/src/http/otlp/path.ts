/** Where OpenTelemetry exporters send to, below the URL of the service. */
export const otlpPaths = { logs: '/v1/logs', spans: '/v1/traces' } as const
