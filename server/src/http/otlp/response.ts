import type { Receipt } from '../../domain/telemetry/receive.ts'
import type { TelemetryKind } from '../../domain/telemetry/telemetry.ts'

/** The encodings of OTLP. A response has that of its request. */
export type Encoding = 'protobuf' | 'json'

export const contentTypes: Record<Encoding, string> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}

const rejectedNames: Record<TelemetryKind, string> = { logs: 'rejectedLogRecords', spans: 'rejectedSpans' }

/** An Export…ServiceResponse: empty, or with a partial success. */
export function encodeReceipt(encoding: Encoding, kind: TelemetryKind, { rejected, message }: Receipt): Buffer {
  if (encoding === 'json') {
    const partialSuccess = { [rejectedNames[kind]]: String(rejected), errorMessage: message }
    return Buffer.from(JSON.stringify(rejected === 0 ? {} : { partialSuccess }))
  }
  if (rejected === 0) return Buffer.alloc(0)
  return field(1, Buffer.concat([Buffer.from([0x08]), varint(rejected), field(2, Buffer.from(message))]))
}

/** A google.rpc.Status. */
export function encodeStatus(encoding: Encoding, code: number, message: string): Buffer {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ code, message }))
  return Buffer.concat([Buffer.from([0x08]), varint(code), field(2, Buffer.from(message))])
}

/** A field with bytes, a text or a message. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80)
  return Buffer.from([...bytes, left])
}
