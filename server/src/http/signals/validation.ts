import type { FastifyRequest } from 'fastify'
import { memberText } from '../../domain/signals/json-text.ts'
import { type RecordSignal, validMetadata } from '../../domain/signals/signal.ts'
import type { NewSignalBody } from './schema.ts'

/**
 * Reads a signal from a request whose body matches `newSignalSchema`, which checks `value` and the type of `metadata`.
 * The domain then checks the limits: the size and depth of the metadata here, the idempotency key in `recordSignal`.
 */
export function parseSignal(request: FastifyRequest): RecordSignal {
  const { value, metadata } = request.body as NewSignalBody
  return {
    prompt: request.prompt,
    value,
    metadata: metadata == null ? null : parseMetadata(request.bodyText),
    body: request.bodyText,
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
  }
}

/** The `metadata` member as sent. Parsing it would round integers beyond 2^53, such as user ids. */
export function parseMetadata(bodyText: string): string {
  return validMetadata(memberText(bodyText, 'metadata') as string)
}
