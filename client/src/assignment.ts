/**
 * Where a unit lies between 0 and 1: the first 53 bits of SHA-256 of `trial:unit`, all that a double holds exactly. Every client and
 * the service compute the same number, so a unit gets the same arm everywhere.
 */
export function positionOf(trial: string, unit: string): number {
  const words = sha256(`${trial}:${unit}`)
  const [high, low] = [words[0] as number, words[1] as number]
  return ((high >>> 0) * 2 ** 21 + (low >>> 11)) / 2 ** 53
}

/** In hexadecimal. */
export function digestOf(text: string): string {
  return Array.from(sha256(text), (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

let constants: ReturnType<typeof createConstants> | undefined

/**
 * SHA-256 as eight words. Web Crypto has it too, but only as a promise, and `node:crypto` only on servers. One block takes about a
 * microsecond.
 */
function sha256(text: string): Int32Array {
  constants ??= createConstants()
  const { rounds, start, schedule, encoder } = constants
  const bytes = encoder.encode(text)
  // The text, a one, zeros, and the length in bits, in blocks of 64 bytes.
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64))
  new Uint8Array(padded.buffer).set(bytes)
  padded.setUint8(bytes.length, 0x80)
  padded.setUint32(padded.byteLength - 4, bytes.length * 8)
  const state = start.slice()
  for (let offset = 0; offset < padded.byteLength; offset += 64) {
    let a = state[0] as number
    let b = state[1] as number
    let c = state[2] as number
    let d = state[3] as number
    let e = state[4] as number
    let f = state[5] as number
    let g = state[6] as number
    let h = state[7] as number
    for (let i = 0; i < 64; i++) {
      if (i < 16) schedule[i] = padded.getInt32(offset + i * 4)
      else {
        const x = schedule[i - 15] as number
        const y = schedule[i - 2] as number
        const mixed = (rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)) + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10))
        schedule[i] = (schedule[i - 16] as number) + (schedule[i - 7] as number) + mixed
      }
      const choice = (e & f) ^ (~e & g)
      const first =
        (h +
          (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
          choice +
          (rounds[i] as number) +
          (schedule[i] as number)) |
        0
      const majority = (a & b) ^ (a & c) ^ (b & c)
      const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + second) | 0
    }
    state[0] = (state[0] as number) + a
    state[1] = (state[1] as number) + b
    state[2] = (state[2] as number) + c
    state[3] = (state[3] as number) + d
    state[4] = (state[4] as number) + e
    state[5] = (state[5] as number) + f
    state[6] = (state[6] as number) + g
    state[7] = (state[7] as number) + h
  }
  return state
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The first bits of the roots of the first primes, which is how SHA-256 defines them. */
function createConstants() {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0
  return {
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    start: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    schedule: new Int32Array(64),
    encoder: new TextEncoder(),
  }
}
