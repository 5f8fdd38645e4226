import { type Schema, shared, verbatim } from '../../../../contract/operation.ts'

// As git writes them, and any word that looks like one. Each character is in one match at most: the authors of texts decide how long they are.
const inBrackets = /(?<=<)[^<>]+(?=>)/g
const words = /[^\s<>/]+/g

/** A text that a share link shows, such as a commit message, without addresses of people. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(inBrackets, (content) => (/[@＠]/.test(content) ? '' : content))
    .replaceAll(words, (word) => (isAddress(word) ? '' : word))
}

/** Whether the word has an @ within it, and a dot and a letter after that. */
function isAddress(word: string): boolean {
  const at = word.slice(1).search(/[@＠]/)
  return at !== -1 && /\.\p{L}/u.test(word.slice(at + 2))
}

/** The part of a response that a share link shows: what its schema allows. `isVerbatim` is for texts. */
export function visible(schema: Schema, value: unknown, isVerbatim = false): unknown {
  if (typeof value === 'string') return isVerbatim ? value : withoutAddresses(value)
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value
  const of = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
  if (Array.isArray(value)) return of.items === undefined ? [] : value.map((item) => visible(of.items as Schema, item))
  // Without known members, such as the metadata of a signal.
  if (of.properties === undefined) return isVerbatim ? value : {}
  const members = Object.entries(of.properties).flatMap(([name, property]) => {
    if (!Object.hasOwn(value, name)) return []
    const given = (value as Record<string, unknown>)[name]
    const isExact = of[verbatim]?.includes(name)
    if (isExact || of[shared]?.includes(name)) return [[name, visible(property, given, isExact)]]
    const nothing = of.required?.includes(name) ? nothingOf(property) : undefined
    return nothing === undefined ? [] : [[name, nothing]]
  })
  return Object.fromEntries(members)
}

/** The value that stands for one that is not shown, so that clients find the members that they expect. */
function nothingOf({ anyOf, type, enum: values }: Schema): unknown {
  const types = anyOf === undefined ? [type].flat() : anyOf.flatMap(({ type }) => type)
  if (types.includes('null') || values?.includes(null)) return null
  if (types.includes('array')) return []
  return types.includes('string') ? '' : undefined
}
