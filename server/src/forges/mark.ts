// Commit messages are anybody's, and may be megabytes long: everything here looks at each character once at most.

const largestNumber = 2 ** 31 - 1

/** The number in `before` + N + `after` at this place of the text, null where there is none. */
export function numberAt(text: string, place: number, before: string, after: string): number | null {
  if (!text.startsWith(before, place)) return null
  const start = place + before.length
  let end = start
  while (end - start <= 10 && isDigit(text[end])) end += 1
  return text.startsWith(after, end) ? toNumber(text.slice(start, end)) : null
}

/** The number in `(#N)` at the end of a text; `signs` are the characters that may stand for `#`. */
export function numberAtEnd(text: string, signs: string): number | null {
  const line = text.trimEnd()
  if (!line.endsWith(')')) return null
  const start = startOfDigits(line, line.length - 1)
  const sign = line[start - 1]
  if (sign === undefined || !signs.includes(sign) || line[start - 2] !== '(') return null
  return toNumber(line.slice(start, -1))
}

/** The number that a line ends with, after the given text. */
export function numberAfter(line: string, before: string): number | null {
  const start = startOfDigits(line, line.length)
  return line.endsWith(before, start) ? toNumber(line.slice(start)) : null
}

/** What follows `beginning` on the last line of the message that begins so. */
export function lastLineWith(message: string, beginning: string): string | null {
  const found = message.lastIndexOf(`\n${beginning}`)
  if (found === -1 && !message.startsWith(beginning)) return null
  const start = found + 1 + beginning.length
  const end = message.indexOf('\n', start)
  return message.slice(start, end === -1 ? undefined : end).trim()
}

function startOfDigits(text: string, end: number): number {
  let start = end
  while (end - start <= 10 && isDigit(text[start - 1])) start -= 1
  return start
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function toNumber(digits: string): number | null {
  const number = digits === '' || digits.startsWith('0') ? 0 : Number(digits)
  return number >= 1 && number <= largestNumber ? number : null
}
