import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type PackedClient, usePackedClient } from '../../client/test/packed-client.ts'
import { onTestEnd } from '../../testing/cleanup.ts'

const startTimeoutMs = 60_000
const examples = fileURLToPath(new URL('..', import.meta.url))

export interface StartedExample {
  address: string
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>
}

/** A project with the examples and the client as it is published, for the tests of the surrounding suite. */
export function usePackedExamples(): PackedClient {
  const client = usePackedClient('fastify', 'react', 'react-dom', 'rolldown')
  before(async () => {
    for (const name of ['chat-server', 'next-page', 'test']) {
      await cp(join(examples, name), join(client.project, name), { recursive: true })
    }
  })
  return client
}

/** Starts the example in this file of the project. It ends with the test. */
export async function startExample(
  { project }: PackedClient,
  file: string,
  env: Record<string, string>,
): Promise<StartedExample> {
  const server = spawn(process.execPath, ['--no-warnings', join(project, file)], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestEnd(() => server.kill('SIGKILL'))
  const [line] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(startTimeoutMs) })
  return {
    address: String(line).trim(),
    async stop() {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}
