import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

type Secret = string | Buffer

/** Whether one of the secrets makes this signature (HMAC-SHA256) over exactly these bytes. */
export function isSigned(
  bytes: string | Buffer,
  signature: string | null,
  secrets: Secret[],
  encoding: 'hex' | 'base64' = 'hex',
): boolean {
  if (signature === null) return false
  // Anybody can sign with an empty secret.
  const usable = secrets.filter((secret) => secret.length > 0)
  return usable.some((secret) => isSame(createHmac('sha256', secret).update(bytes).digest(encoding), signature))
}

/** Whether the token is one of the secrets. The hashes are compared, so that the time does not even tell the length. */
export function isOneOf(token: string | null, secrets: string[]): boolean {
  if (token === null) return false
  return secrets.some((secret) => secret !== '' && timingSafeEqual(hash(secret), hash(token)))
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
