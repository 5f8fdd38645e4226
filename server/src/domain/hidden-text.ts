/**
 * Finds characters that a reader cannot see but a model, a shell or a parser does. Imports nothing, because the console bundles
 * this file too.
 */

export const hiddenKinds = ['bidi', 'tag', 'zero_width', 'variation_selector', 'control', 'other'] as const

export type HiddenKind = (typeof hiddenKinds)[number]

/** Adjacent hidden characters of one kind. `start` and `end` are offsets in the string, `end` exclusive. */
export interface HiddenRun {
  kind: HiddenKind
  start: number
  end: number
}

// Scripts whose words are spelt with joiners, such as Persian and the Indic scripts.
const joinedScripts =
  'Adlam Arabic Balinese Bengali Devanagari Gujarati Gurmukhi Hanifi_Rohingya Javanese Kannada Khmer Malayalam Mandaic ' +
  'Manichaean Mongolian Myanmar Newa Nko Oriya Phags_Pa Sinhala Sundanese Syriac Tamil Telugu Tibetan'
// Scripts without spaces between words, which mark where a line may break.
const unspacedScripts = 'Javanese Khmer Lao Myanmar Thai Tibetan'

function letterOf(scripts: string): string {
  return `(?=[\\p{L}\\p{M}\\p{N}])[${scripts.replaceAll(/\S+/g, '\\p{scx=$&}').replaceAll(' ', '')}]`
}

function tags(text: string): string {
  return [...text].map((letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join('')
}

const legitimateUses = [
  // Emoji joined to one emoji, such as a family.
  '\\u200D(?<=\\p{ExtPict}[\\p{EMod}\\uFE0F]?\\u200D)(?=\\p{ExtPict})',
  `[\\u200C\\u200D](?<=${letterOf(joinedScripts)}[\\u200C\\u200D])`,
  `\\u200B(?<=${letterOf(unspacedScripts)}\\u200B)(?=${letterOf(unspacedScripts)})`,
  // One selector that chooses between text and emoji, or between forms of a symbol, an ideograph or a letter.
  '[\\uFE0E\\uFE0F](?<=\\p{Emoji}[\\uFE0E\\uFE0F])',
  '[\\uFE00-\\uFE0D](?<=[\\p{Sm}\\p{sc=Han}\\p{sc=Myanmar}\\p{sc=Phags_Pa}\\p{sc=Egyptian_Hieroglyphs}\\u3000-\\u303F\\uFF01-\\uFF60][\\uFE00-\\uFE0D])',
  '[\\u{E0100}-\\u{E011F}](?<=\\p{sc=Han}[\\u{E0100}-\\u{E011F}])',
  '[\\u180B-\\u180F](?<=[^\\P{sc=Mongolian}\\u180B-\\u180F][\\u180B-\\u180F])',
  // The flags of England, Scotland and Wales. No other sequence of tags is an emoji.
  `(?:${['gbeng', 'gbsct', 'gbwls'].map((code) => `${tags(code)}\\u{E007F}(?<=\\u{1F3F4}${tags(code)}\\u{E007F})`).join('|')})`,
]

const legitimate = new RegExp(legitimateUses.join('|'), 'uy')
// The longest legitimate sequence is a flag of six tags, of two units each. Longer ones need no closer look.
const maxLegitimateLength = 12

// Line breaks and tabs are the only control characters that belong in a text.
const invisible = /(?:(?![\t\n\f\r])[\p{DI}\p{Cc}\uFFF9-\uFFFB])+/gu

// No Latin or Cyrillic letter, kana, common ideograph or Hangul is invisible. Everything else is found many times as fast, and most texts have
// little of it.
const notPlain = /[^\t\n\f\r\x20-\x7e\u00c0-\u024f\u0400-\u045f\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+/g

function* invisibleStretches(text: string): Generator<{ stretch: string; index: number }> {
  for (const { 0: part, index: offset } of text.matchAll(notPlain)) {
    for (const { 0: stretch, index } of part.matchAll(invisible)) yield { stretch, index: offset + index }
  }
}

/** The hidden characters of a text, in order; at most `limit` runs. Legitimate uses, such as joined emoji, do not count. */
export function findHidden(text: string, limit = Number.POSITIVE_INFINITY): HiddenRun[] {
  const runs: HiddenRun[] = []
  for (const _ of findInSteps(text, limit, runs));
  return runs
}

/** Adds them to `runs` step by step, because a text of little but joined emoji takes a second. */
export function* findInSteps(text: string, limit: number, runs: HiddenRun[]): Generator<undefined> {
  for (const { stretch, index } of invisibleStretches(text)) {
    const end = index + stretch.length
    for (let start = index; start < end; ) {
      const length = stretch.length > maxLegitimateLength ? 0 : legitimateLength(text, start)
      if (length > 0) {
        start += length
        continue
      }
      const code = text.codePointAt(start) as number
      const next = start + (code > 0xffff ? 2 : 1)
      const [kind, last] = [kindOf(code), runs.at(-1)]
      if (last?.end === start && last.kind === kind) last.end = next
      else if (runs.length === limit) return
      else runs.push({ kind, start, end: next })
      start = next
    }
    yield
  }
}

/** The length of the legitimate sequence at this offset; 0 if the character there is hidden. */
function legitimateLength(text: string, offset: number): number {
  legitimate.lastIndex = offset
  return legitimate.exec(text)?.[0].length ?? 0
}

function kindOf(code: number): HiddenKind {
  if (code === 0x61c || code === 0x200e || code === 0x200f) return 'bidi'
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return 'bidi'
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag'
  if ((code >= 0x200b && code <= 0x200d) || code === 0x2060 || code === 0xfeff) return 'zero_width'
  if (variationSelector(code) !== null) return 'variation_selector'
  return code < 0xa0 && code !== 0xad ? 'control' : 'other'
}

/** The number of a variation selector, from 1; null for any other character. */
function variationSelector(code: number): number | null {
  if (code >= 0xfe00 && code <= 0xfe0f) return code - 0xfe00 + 1
  return code >= 0xe0100 && code <= 0xe01ef ? code - 0xe0100 + 17 : null
}

const names: Record<number, [abbreviation: string, name: string]> = {
  173: ['SHY', 'soft hyphen'],
  847: ['CGJ', 'combining grapheme joiner'],
  1564: ['ALM', 'Arabic letter mark'],
  4447: ['HCF', 'Hangul choseong filler'],
  4448: ['HJF', 'Hangul jungseong filler'],
  6158: ['MVS', 'Mongolian vowel separator'],
  8203: ['ZWSP', 'zero-width space'],
  8204: ['ZWNJ', 'zero-width non-joiner'],
  8205: ['ZWJ', 'zero-width joiner'],
  8206: ['LRM', 'left-to-right mark'],
  8207: ['RLM', 'right-to-left mark'],
  8234: ['LRE', 'left-to-right embedding'],
  8235: ['RLE', 'right-to-left embedding'],
  8236: ['PDF', 'pop directional formatting'],
  8237: ['LRO', 'left-to-right override'],
  8238: ['RLO', 'right-to-left override'],
  8288: ['WJ', 'word joiner'],
  8294: ['LRI', 'left-to-right isolate'],
  8295: ['RLI', 'right-to-left isolate'],
  8296: ['FSI', 'first strong isolate'],
  8297: ['PDI', 'pop directional isolate'],
  12644: ['HF', 'Hangul filler'],
  65279: ['BOM', 'zero-width no-break space'],
}

const kindNames: Record<HiddenKind, [singular: string, plural: string]> = {
  bidi: ['bidirectional control', 'bidirectional controls'],
  tag: ['Unicode tag', 'Unicode tags'],
  zero_width: ['zero-width character', 'zero-width characters'],
  variation_selector: ['variation selector', 'variation selectors'],
  control: ['control character', 'control characters'],
  other: ['invisible character', 'invisible characters'],
}

/** Such as `1 bidirectional control` or `16 Unicode tags`. */
export function countOfKind(kind: HiddenKind, count: number): string {
  return `${count.toLocaleString('en')} ${kindNames[kind][count === 1 ? 0 : 1]}`
}

/** Such as `U+202E`. */
function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** The label and the description of adjacent hidden characters of one kind, such as `U+202E RLO`. */
export function describeHidden(text: string, kind: HiddenKind): { label: string; description: string } {
  const characters = [...text]
  const first = characters[0] as string
  const times = characters.length === 1 ? '' : ` ×${characters.length}`
  if (characters.every((character) => character === first)) {
    const [abbreviation, name] = nameOf(first, kind)
    const label = `${codePointOf(first)}${abbreviation === '' ? '' : ` ${abbreviation}`}${times}`
    return { label, description: `${name} (${codePointOf(first)}${times})` }
  }
  const count = countOfKind(kind, characters.length)
  const message = smuggledText(characters)
  if (message !== null) return { label: `${count}: ${message}`, description: `${count} that spell “${message}”` }
  const codes = characters.slice(0, 8).map(codePointOf).join(' ')
  return { label: `${codes}${characters.length > 8 ? ` … ${count}` : ''}`, description: count }
}

function nameOf(character: string, kind: HiddenKind): [abbreviation: string, name: string] {
  const code = character.codePointAt(0) as number
  const selector = variationSelector(code)
  if (selector !== null) return [`VS${selector}`, `variation selector ${selector}`]
  return names[code] ?? [kind === 'tag' ? 'TAG' : '', kindNames[kind][0]]
}

/** ASCII text encoded as Unicode tags, or as one variation selector per byte; null if they encode something else. */
function smuggledText(characters: string[]): string | null {
  const bytes = characters.map((character) => {
    const code = character.codePointAt(0) as number
    return code >= 0xe0000 && code <= 0xe007f ? code - 0xe0000 : (variationSelector(code) ?? 0) - 1
  })
  const isPrintable = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
  return isPrintable ? String.fromCharCode(...bytes.slice(0, 200)) + (bytes.length > 200 ? '…' : '') : null
}

/** Replaces the hidden characters of a text by visible text. */
export function replaceHidden(text: string, visible: (characters: string, kind: HiddenKind) => string): string {
  const parts: string[] = []
  let end = 0
  for (const run of findHidden(text)) {
    parts.push(text.slice(end, run.start), visible(text.slice(run.start, run.end), run.kind))
    end = run.end
  }
  return end === 0 ? text : parts.join('') + text.slice(end)
}

/** Shows hidden characters as marks, such as `⟦U+202E RLO⟧`. */
export function markHidden(text: string): string {
  return replaceHidden(text, (characters, kind) => `⟦${describeHidden(characters, kind).label}⟧`)
}
