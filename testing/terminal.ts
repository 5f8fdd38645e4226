import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestEnd } from './cleanup.ts'
import { without } from './installed-tools.ts'
import { mainScript } from './processes.ts'

/** Why tests on a terminal are skipped; false if they can run. */
export const noTerminal = without('script')

export interface TerminalOptions {
  env: NodeJS.ProcessEnv
  columns?: number
  /** What to type once the output matches. */
  type?: { after: RegExp; text: string }
}

/** Runs the CLI on a terminal of its own, and returns all that the terminal shows. */
export async function runInTerminal(
  args: string[],
  { env, columns = 80, type }: TerminalOptions,
): Promise<{ code: number | null; output: string }> {
  const { PATH, HOME, TMPDIR } = process.env
  const command = [process.execPath, mainScript, ...args].map(quoted).join(' ')
  // --return: exits with the status of the command.
  const child = spawn(
    'script',
    ['--quiet', '--return', '--flush', '--command', `stty cols ${columns}; exec ${command}`, '/dev/null'],
    {
      env: { PATH, HOME, TMPDIR, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  onTestEnd(() => child.kill('SIGKILL'))
  let output = ''
  let typed = type === undefined
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
    if (typed || !type?.after.test(output)) return
    typed = true
    child.stdin.write(type.text)
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
