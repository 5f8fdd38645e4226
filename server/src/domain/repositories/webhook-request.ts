import { DomainError } from '../errors.ts'

export type Headers = Record<string, string | string[] | undefined>

/** A webhook request as received. The body stays in bytes because the signature covers exactly these. */
export interface WebhookRequest {
  headers: Headers
  body: Buffer
}

export function invalidSignature(): DomainError {
  const message = 'The signature is missing or wrong. Check that the webhook uses the secret of this repository.'
  return new DomainError('unauthorized', message)
}
