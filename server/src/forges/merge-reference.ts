// Finds the pull request number in a merge commit's message. Messages are untrusted and may be megabytes long, so every
// function here visits each character at most once.

const maxNumber = 2 ** 31 - 1

/** The number in `before` + N + `after` at this position in the text. */
export function numberAt(text: string, position: number, before: string, after: string): number | null {
  if (!text.startsWith(before, position)) return null
  const start = position + before.length
  let end = start
  while (end - start <= 10 && isDigit(text[end])) end += 1
  return text.startsWith(after, end) ? toNumber(text.slice(start, end)) : null
}

/** The number in `(#N)` at the end of the text. `signs` lists the characters accepted in place of `#`. */
export function numberAtEnd(text: string, signs: string): number | null {
  const line = text.trimEnd()
  if (!line.endsWith(')')) return null
  const start = startOfDigits(line, line.length - 1)
  const sign = line[start - 1]
  if (sign === undefined || !signs.includes(sign) || line[start - 2] !== '(') return null
  return toNumber(line.slice(start, -1))
}

/** The number at the end of the line, if `before` precedes it. */
export function numberAfter(line: string, before: string): number | null {
  const start = startOfDigits(line, line.length)
  return line.endsWith(before, start) ? toNumber(line.slice(start)) : null
}

/** The rest of the last line that starts with this prefix. */
export function lastLineWith(message: string, prefix: string): string | null {
  const index = message.lastIndexOf(`\n${prefix}`)
  if (index === -1 && !message.startsWith(prefix)) return null
  const start = index + 1 + prefix.length
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
  return number >= 1 && number <= maxNumber ? number : null
}
