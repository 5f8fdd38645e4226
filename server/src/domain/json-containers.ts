import { invalid } from './errors.ts'

// Metadata may be 64 levels deep. A thousand signals have 100 objects and arrays each, which take 30 ms to parse.
const maxDepth = 128
const maxContainers = 100_000

const [quote, backslash, bracket, brace] = Buffer.from('"\\[{') as unknown as [number, number, number, number]
// In ASCII, two after the character that opens it.
const [closingBracket, closingBrace] = [bracket + 2, brace + 2]

/** Rejects a large text of little but brackets, on which JSON.parse would spend half a second. */
export function limitContainers(json: Buffer, most = maxContainers): void {
  let [depth, containers] = [0, 0]
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === quote) {
      do at += json[at] === backslash ? 2 : 1
      while (at < json.length && json[at] !== quote)
    } else if (character === bracket || character === brace) {
      depth++
      containers++
      if (depth > maxDepth) throw invalid(`The body is nested more than ${maxDepth} levels deep`)
      if (containers > most) {
        const count = `${most / 1_000},000`
        throw invalid(`The body has more than ${count} objects and arrays: split it into several requests`)
      }
    } else if (character === closingBracket || character === closingBrace) depth--
  }
}
