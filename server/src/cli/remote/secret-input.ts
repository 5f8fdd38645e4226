import { exitCodes, Failure } from '../failure.ts'
import { visible, visibleLine } from '../output.ts'

// Keys have 53 characters. A mistaken pipe must not fill the memory.
const maxLength = 1_024

/** Reads a secret: on a terminal without showing it, otherwise the first line of standard input. */
export function readSecret(question: string): Promise<string> {
  return process.stdin.isTTY ? readHidden(question) : readFirstLine()
}

async function readFirstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > maxLength) break
  }
  return (text.split('\n')[0] ?? '').trim()
}

async function readHidden(question: string): Promise<string> {
  const { stdin } = process
  // Before the question: a fast answer must not appear on the screen.
  stdin.setRawMode(true)
  process.stderr.write(visibleLine(question))
  stdin.setEncoding('utf8')
  try {
    return await typedLine(stdin)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    process.stderr.write(visible('\n'))
  }
}

const [interrupt, endOfInput, eraseLine] = ['\u0003', '\u0004', '\u0015']
// Terminals put these around pasted text, and send others for arrow keys.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one.
const escapeSequence = /\u001b\[[0-9;]*[~A-Za-z]/g

async function typedLine(stdin: NodeJS.ReadStream): Promise<string> {
  let line = ''
  for await (const chunk of stdin.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    for (const character of chunk.replaceAll(escapeSequence, '')) {
      if (character === interrupt) throw new Failure(exitCodes.interrupted, 'Interrupted. Nothing was changed.')
      if (character === '\r' || character === '\n' || character === endOfInput) return line.trim()
      if (character === eraseLine) line = ''
      else if (character === '\u007f' || character === '\b') line = line.slice(0, -1)
      else if (line.length < maxLength) line += character
    }
  }
  return line.trim()
}
