const number = new Float64Array(1)
const words = new Uint32Array(number.buffer)

/** Tells by 64 bits whether numbers are the same as before. */
interface Fingerprint {
  add(value: number): void
  /** Integers of up to 32 bits, which takes a tenth of the time. */
  addIntegers(values: readonly number[], unit?: number): void
  /** So far. */
  text(): string
}

/** Two hashes of 32 bits with different constants, mixed as in MurmurHash3. */
export function createFingerprint(): Fingerprint {
  let [a, b] = [0x9747b28c, 0x2f0b4a27]
  return {
    add(value) {
      number[0] = value
      a = mixed(mixed(a, words[0] as number, 0xcc9e2d51), words[1] as number, 0xcc9e2d51)
      b = mixed(mixed(b, words[1] as number, 0x239b961b), words[0] as number, 0x239b961b)
    },
    addIntegers(values, unit = 1) {
      // Local variables, because those of the surrounding function are slow.
      let [x, y] = [a, b]
      for (let i = 0; i < values.length; i++) {
        const word = ((values[i] as number) / unit) | 0
        x = mixed(x, word, 0xcc9e2d51)
        y = mixed(y, word, 0x239b961b)
      }
      a = x
      b = y
    },
    text: () => `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}`,
  }
}

function mixed(hash: number, word: number, factor: number): number {
  let k = Math.imul(word, factor)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  const h = hash ^ k
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0x6b64e654) | 0
}
