/**
 * The source text of the member `name` of a JSON object, or undefined without one. Parsed values cannot be turned back into the
 * original text: integers past 2^53 lose digits. `json` must be an object that JSON.parse accepts. Like JSON.parse, the last
 * of several members with the same name wins.
 */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined
  forEachMember(json, (member, text) => {
    if (member === name) found = text
  })
  return found
}

/** Visits the name and source text of every member of a JSON object, including repeated ones, in one pass. */
export function forEachMember(json: string, visit: (name: string, text: string) => void): void {
  let at = skipSpace(json, json.indexOf('{') + 1)
  while (json[at] === '"') {
    const keyEnd = stringEnd(json, at)
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = valueEnd(json, start)
    const key = json.slice(at + 1, keyEnd - 1)
    visit(key.includes('\\') ? JSON.parse(`"${key}"`) : key, json.slice(start, end))
    at = skipSpace(json, end)
    if (json[at] === ',') at = skipSpace(json, at + 1)
  }
}

/** The source text of every element of a JSON array. `json` must be an array that JSON.parse accepts. */
export function elementTexts(json: string): string[] {
  const texts: string[] = []
  let at = skipSpace(json, json.indexOf('[') + 1)
  while (at < json.length && json.charCodeAt(at) !== closingBracket) {
    const end = valueEnd(json, at)
    texts.push(json.slice(at, end))
    at = skipSpace(json, end)
    if (json[at] === ',') at = skipSpace(json, at + 1)
  }
  return texts
}

/**
 * Whether the JSON object has all of these members, each with one of the values as canonical JSON. One pass over the text, however many
 * members both sides have. JSON.parse would keep only the last of repeated members, but all of them are stored and exported.
 */
export function hasMembers(json: string, wanted: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const missing = new Set(wanted.keys())
  forEachMember(json, (name, value) => {
    if (missing.has(name) && wanted.get(name)?.has(canonicalJson(value))) missing.delete(name)
  })
  return missing.size === 0
}

/** The nesting depth of objects and arrays: 1 for an object with only scalar members. */
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
 * One canonical text for all texts of the same value: sorted members, and normalised numbers without the rounding of
 * JSON.parse. `json` must be a value that JSON.parse accepts.
 */
export function canonicalJson(json: string): string {
  // JSON.parse calls the reviver from the inside out, so the contents of arrays and objects are already canonical text.
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

/** The significant digits and a power of ten. */
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
const closingBracket = 0x5d

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
      // At depth 0 the bracket closes the object around a number, true, false or null.
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (character === 0x2c || character <= 0x20)) return at
    at++
  }
  return at
}
