/** Avoids `randomUUID`, which browsers offer only on pages served over HTTPS. */
export function createIdempotencyKey(): string {
  return Array.from(randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Node 18 has no `crypto` by default. A key has to be unique, not secret, so there any random number will do. */
function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  if (globalThis.crypto !== undefined) return crypto.getRandomValues(bytes)
  return bytes.map(() => Math.floor(Math.random() * 256))
}
