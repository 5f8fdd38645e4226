import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Headers } from '../domain/repositories/delivery.ts'

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

const printable = /^[ -~]{1,200}$/

/** The value of a header that was sent exactly once. A repeated header is ambiguous and counts as missing. */
export function header(headers: Headers, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** The digest in a header of the form `sha256=<hex>`. */
export function sha256Header(headers: Headers, name: string): string | null {
  const value = header(headers, name)
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : null
}

/** The first of these headers with a printable value of at most 200 characters, safe to store and display. */
export function firstPrintableHeader(headers: Headers, names: string[]): string | null {
  for (const name of names) {
    const value = header(headers, name)
    if (value !== null && printable.test(value)) return value
  }
  return null
}
