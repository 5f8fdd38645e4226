import type { Command } from 'commander'
import type { SessionInfo } from '../../../../client/src/index.ts'
import { exitCodes, Failure } from '../failure.ts'
import { print, printWarnings, visible, visibleLine } from '../output.ts'
import { explainErrors, openConnection } from './connection.ts'
import { deleteLogin, type Login, loginFile, readLogin, writeLogin } from './login-file.ts'
import { exposesKey, exposureWarning, parseServerUrl } from './server-url.ts'
import { readRemoteSettings } from './settings.ts'

export function loginCommands(program: Command): void {
  program
    .command('login')
    .summary('store the URL and API key of a service')
    .description(
      'store the URL and an API key of a service for the commands that work over HTTP. The key is read from a hidden prompt, from ' +
        'PROMPTLEDGER_KEY, or from standard input, and checked with a request. A key with the role reader is enough',
    )
    .argument('<url>', 'URL of the service, such as https://ledger.example.com')
    .addHelpText('after', '\nExample:\n  $ promptledger login http://127.0.0.1:3000\n  $ promptledger prompts')
    .action(async (text: string, _options: object, command: Command) => {
      const url = parseServerUrl(text)
      if (exposesKey(url)) printWarnings([exposureWarning(url)])
      const login = { url, key: await readKey() }
      const session = await checkLogin(login)
      await writeLogin(login)
      const { organisation, key } = session
      const json = { url, organisation, key, file: loginFile() }
      print(command, json, describeLogin(url, session))
    })

  program
    .command('logout')
    .description('delete the stored URL and key; the key itself stays valid until it is revoked')
    .addHelpText('after', '\nExample:\n  $ promptledger logout')
    .action(async (_options: object, command: Command) => {
      // Also deletes a damaged file, whose content does not matter any more.
      const login = await readLogin().catch(() => null)
      await deleteLogin()
      const text =
        login === null ? 'Not logged in.' : `Logged out of ${login.url}. The key stays valid until it is revoked.`
      print(command, { url: login?.url ?? null }, text)
    })
}

async function readKey(): Promise<string> {
  const key = readRemoteSettings().key ?? (await readSecret('API key: '))
  if (key === '') {
    throw new Failure(
      exitCodes.failed,
      'No key was given. Paste one at the prompt, set PROMPTLEDGER_KEY, or pipe one to standard input.',
    )
  }
  // The message does not repeat the text, which may be a secret of another kind.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Failure(exitCodes.failed, 'That is not an API key: keys start with plk_.')
  return key
}

async function checkLogin(login: Login): Promise<SessionInfo> {
  const ledger = await openConnection(login, { maxRetries: 1 })
  const session = await explainErrors(login.url, () => ledger.session.get())
  if (typeof session?.organisation?.name === 'string' && typeof session.key?.name === 'string') return session
  throw new Failure(exitCodes.unreachable, `${login.url} did not respond like Promptledger. Check the URL.`)
}

function describeLogin(url: string, { organisation, key }: SessionInfo): string {
  const role = key.role === 'admin' ? 'admin; a key with the role reader would be enough' : key.role
  return `Logged in to ${organisation.name} at ${url} with the key "${key.name}" (${role}).
The key is stored in ${loginFile()}, for you only. Next: promptledger prompts`
}

// Keys have 53 characters. A mistaken pipe must not fill the memory.
const maxLength = 1_024

/** Reads a secret: on a terminal without showing it, otherwise the first line of standard input. */
function readSecret(question: string): Promise<string> {
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
