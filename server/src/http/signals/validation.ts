import type { FastifyRequest } from 'fastify'
import type { BatchItem, NewSignalBody, TracedItem } from '../../../../contract/signals.ts'
import { detailsOf, type SentDetails } from '../../domain/signals/details.ts'
import { memberText } from '../../domain/signals/json-text.ts'
import { type RecordSignal, validMetadata } from '../../domain/signals/signal.ts'
import { versionMember } from '../../domain/signals/version.ts'
import type { Voters } from '../../domain/signals/voter.ts'
import type { Instant } from '../../domain/time.ts'

/**
 * Reads a signal from a request whose body matches `newSignalSchema`, which checks `value` and the types and lengths of the other
 * fields. The domain then checks their limits: those of details and metadata here, the idempotency key in `recordSignal`.
 */
export function parseSignal(
  { prompt, headers, body: sent, bodyText }: Pick<FastifyRequest, 'prompt' | 'headers' | 'body' | 'bodyText'>,
  voters: Voters,
  now: Instant,
): RecordSignal | Promise<RecordSignal> {
  const body = sent as NewSignalBody
  const signal = {
    prompt,
    value: body.value,
    metadata: body.metadata == null ? null : parseMetadata(bodyText),
    details: null,
    body: bodyText,
    idempotencyKey: headers['idempotency-key'] as string | undefined,
  }
  const traceparent = headers.traceparent as string | undefined
  return hasDetails(body, traceparent) ? withDetails(signal, sentDetails(body, traceparent), voters, now) : signal
}

/** The same for one signal of a batch. `text` is its part of the body. */
export function parseBatchItem(
  prompt: RecordSignal['prompt'],
  item: BatchItem | TracedItem,
  text: string,
  voters: Voters,
  now: Instant,
): RecordSignal | Promise<RecordSignal> {
  const signal = {
    prompt,
    value: item.value,
    metadata: item.metadata == null ? null : parseMetadata(text),
    details: null,
    body: text,
    idempotencyKey: item.idempotency_key ?? undefined,
  }
  const { traceparent } = item
  return hasDetails(item, traceparent) ? withDetails(signal, sentDetails(item, traceparent), voters, now) : signal
}

/** Whether a request can have details at all. Most have none, and are spared the rest. */
function hasDetails(body: NewSignalBody, traceparent: string | null | undefined): boolean {
  return (
    traceparent != null ||
    body.version != null ||
    body.subject != null ||
    body.voter != null ||
    body.comment != null ||
    body.occurred_at != null ||
    (body.metadata != null && versionMember in body.metadata)
  )
}

function sentDetails(body: NewSignalBody, traceparent: string | null | undefined): SentDetails {
  const { version, subject, voter, comment, occurred_at: occurredAt, metadata } = body
  return { version, subject, voter, comment, occurredAt, metadata, traceparent } as SentDetails
}

async function withDetails(
  signal: RecordSignal,
  sent: SentDetails,
  voters: Voters,
  now: Instant,
): Promise<RecordSignal> {
  const hash = (text: string) => voters.hash(signal.prompt.organisationId, text)
  const details = await detailsOf(sent, hash, now)
  // The fingerprint of the body is stored with its idempotency key, and must not help to guess the voter.
  const body = sent.voter != null && signal.idempotencyKey !== undefined ? await hash(signal.body) : signal.body
  return { ...signal, details, body }
}

/** The `metadata` member as sent. Parsing it would round integers beyond 2^53, such as user ids. */
export function parseMetadata(bodyText: string): string {
  return validMetadata(memberText(bodyText, 'metadata') as string)
}
