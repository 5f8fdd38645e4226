import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestEnd } from './cleanup.ts'

export interface ReceivedMail {
  from: string
  to: string[]
  /** As it was transferred, with headers. */
  source: string
}

/** A real SMTP server on 127.0.0.1 that keeps what it receives. `options` can reject commands. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
        })
        callback(null)
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestEnd(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port } = server.server.address() as AddressInfo
  return { port, received, url: `smtp://127.0.0.1:${port}` }
}

/** An error with an SMTP reply code, to reject a command with. */
export function smtpError(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}
