import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

type Secret = string | Buffer

/** Whether one of the secrets produces this HMAC signature over exactly these bytes. */
export function isSignedWith(
  secrets: Secret[],
  bytes: string | Buffer,
  signature: string | null,
  encoding: 'hex' | 'base64' = 'hex',
  algorithm: 'sha256' | 'sha1' = 'sha256',
): boolean {
  if (signature === null) return false
  // Anyone can sign with an empty secret.
  const usable = secrets.filter((secret) => secret.length > 0)
  return usable.some((secret) => isEqual(createHmac(algorithm, secret).update(bytes).digest(encoding), signature))
}

/** Whether the token equals one of the secrets. Compares hashes so that timing does not even leak the length. */
export function isKnownToken(secrets: string[], token: string | null): boolean {
  if (token === null) return false
  return secrets.some((secret) => secret !== '' && timingSafeEqual(sha256(secret), sha256(token)))
}

function isEqual(expected: string, actual: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(actual)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
