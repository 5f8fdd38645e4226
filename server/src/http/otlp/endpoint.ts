import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DomainError } from '../../domain/errors.ts'
import { limitContainers } from '../../domain/json-containers.ts'
import { type Receipt, receiveLogs, receiveSpans } from '../../domain/telemetry/receive.ts'
import type { TelemetryContext } from '../../domain/telemetry/record-evaluations.ts'
import type { TelemetryKind } from '../../domain/telemetry/telemetry.ts'
import { createTurnstile } from '../admission/turnstile.ts'
import { parseObject } from '../json-bodies.ts'
import { eventsInJson, spansInJson } from './json.ts'
import { eventsIn, spansIn } from './protobuf.ts'
import { type Encoding, encodeReceipt } from './response.ts'
import { MalformedError, TooManyPartsError } from './wire.ts'

/** Loaded with the first request, because most services get none. */

// Parsing this much JSON takes 20 ms, in which no other request runs. Protobuf is read in slices.
const maxDecodedBytes: Record<Encoding, number> = { protobuf: 8 * 1024 * 1024, json: 2 * 1024 * 1024 }
// In thousands. An attribute is two objects. The protocol has some dozen names, and attributes are values of two of them.
const jsonLimits = { containers: 125, members: 500, names: 1 }
// What is decompressed is not counted with the bodies, so few are at the same time.
const maxDecoding = 2

/** The body cannot be read; `status` is 400 or 413. */
export class RejectedBody extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const gunzipped = promisify(gunzip)

const inSlots = createSlots(maxDecoding)
const jsonTurn = createTurnstile()

/** Reads and records a request, and returns the body of its response. */
export async function receive(
  kind: TelemetryKind,
  encoding: Encoding,
  body: Buffer,
  isCompressed: boolean,
  context: TelemetryContext,
): Promise<Buffer> {
  return inSlots(async () => {
    const bytes = isCompressed ? await decompress(body, maxDecodedBytes[encoding]) : body
    if (bytes.length > maxDecodedBytes[encoding]) throw tooLarge(maxDecodedBytes[encoding])
    try {
      return encodeReceipt(encoding, kind, await record(kind, encoding, bytes, context))
    } catch (error) {
      if (error instanceof MalformedError) throw new RejectedBody(400, `The body is malformed: ${error.message}`)
      if (error instanceof TooManyPartsError)
        throw new RejectedBody(413, 'The body has too many resources, records or attributes: send smaller batches')
      throw error
    }
  })
}

async function record(
  kind: TelemetryKind,
  encoding: Encoding,
  bytes: Buffer,
  context: TelemetryContext,
): Promise<Receipt> {
  if (encoding === 'protobuf') {
    return kind === 'logs' ? receiveLogs(context, eventsIn(bytes)) : receiveSpans(context, spansIn(bytes))
  }
  await jsonTurn()
  const request = parseJson(bytes)
  return kind === 'logs' ? receiveLogs(context, eventsInJson(request)) : receiveSpans(context, spansInJson(request))
}

function parseJson(bytes: Buffer): object {
  if (!isUtf8(bytes)) throw new MalformedError('it is not valid UTF-8')
  try {
    limitContainers(bytes, jsonLimits)
  } catch {
    throw new TooManyPartsError()
  }
  try {
    return parseObject('it', bytes.toString())
  } catch (error) {
    if (error instanceof DomainError) throw new MalformedError(error.message)
    throw error
  }
}

async function decompress(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await gunzipped(body, { maxOutputLength: maxBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new RejectedBody(400, 'The body is not valid gzip')
  }
}

function tooLarge(maxBytes: number): RejectedBody {
  return new RejectedBody(
    413,
    `The body has more than ${maxBytes / 1024 / 1024} MiB after decompression: lower the batch size of the exporter`,
  )
}

/** Runs at most `count` of the tasks at the same time, in the order of the calls. */
function createSlots(count: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
