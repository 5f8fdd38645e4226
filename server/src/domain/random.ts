import { randomBytes } from 'node:crypto'

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

// Bytes from 248 up are discarded: 248 is the largest multiple of 62 in a byte, and using them would favour the first characters.
const unbiasedBytes = 248

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < unbiasedBytes && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}
