/**
 * The text of the member `name` of a JSON object, exactly as it was sent, or undefined where there is none. What
 * JSON.parse makes of a value cannot be turned back: integers past 2^53 lose digits. `json` must be the text of an object
 * that JSON.parse has accepted; of a repeated name the last one counts, as it does there.
 */
export function memberText(json: string, name: string): string | undefined {
  return memberTexts(json, name).at(-1)
}

/** The same of every member of that name. */
export function memberTexts(json: string, name: string): string[] {
  const found: string[] = []
  let at = skipSpace(json, json.indexOf('{') + 1)
  while (json[at] === '"') {
    const keyEnd = stringEnd(json, at)
    const key = json.slice(at, keyEnd)
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = valueEnd(json, start)
    if (JSON.parse(key) === name) found.push(json.slice(start, end))
    at = skipSpace(json, end)
    if (json[at] === ',') at = skipSpace(json, at + 1)
  }
  return found
}

/** How deep objects and arrays are nested: 1 for one that holds only plain values. */
export function nestingDepth(json: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === quote) at = stringEnd(json, at) - 1
    else if (opensContainer(character)) deepest = Math.max(deepest, ++depth)
    else if (closesContainer(character)) depth--
  }
  return deepest
}

/**
 * The same text for all texts of a value: members in one order, numbers in one form, to the last digit, which JSON.parse
 * would round. Takes a value that JSON.parse has accepted.
 */
export function canonicalJson(json: string): string {
  // It is called from the inside out: whatever an array or object holds is canonical text by then.
  const write = (_name: string, value: unknown, { source = '' }: { source?: string }): string => {
    if (Array.isArray(value)) return `[${value.join(',')}]`
    if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
      return `{${members.sort().join(',')}}`
    }
    return typeof value === 'number' ? canonicalNumber(source) : JSON.stringify(value)
  }
  return JSON.parse(json, write as (name: string, value: unknown) => string)
}

/** Its digits without zeros around them, and the power of ten to multiply them by. */
function canonicalNumber(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)(?:e\+?(-?\d+))?$/i.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  let length = digits.length
  while (digits[length - 1] === '0') length--
  if (length === 0) return '0'
  return `${sign}${digits.slice(0, length)}e${BigInt(exponent) + BigInt(digits.length - length - fraction.length)}`
}

const quote = 0x22
const backslash = 0x5c

function opensContainer(character: number): boolean {
  return character === 0x7b || character === 0x5b
}

function closesContainer(character: number): boolean {
  return character === 0x7d || character === 0x5d
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (json.charCodeAt(at) <= 0x20) at++
  return at
}

function stringEnd(json: string, from: number): number {
  let at = from + 1
  while (json.charCodeAt(at) !== quote) at += json.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}

function valueEnd(json: string, from: number): number {
  let depth = 0
  let at = from
  while (at < json.length) {
    const character = json.charCodeAt(at)
    if (character === quote) {
      at = stringEnd(json, at)
      if (depth === 0) return at
      continue
    }
    if (opensContainer(character)) depth++
    else if (closesContainer(character)) {
      // A closing bracket at depth 0 belongs to the object around a number, true, false or null.
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (character === 0x2c || character <= 0x20)) return at
    at++
  }
  return at
}
