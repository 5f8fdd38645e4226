import { randomBytes } from 'node:crypto'

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

// Bytes from 248 on are drawn again: 248 is the last multiple of 62, and keeping them would favour the first characters.
const fairBytes = 248

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < fairBytes && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}
