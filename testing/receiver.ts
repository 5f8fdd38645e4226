import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestEnd } from './cleanup.ts'

export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export type Respond = (response: ServerResponse, request: IncomingMessage) => void

interface Certificate {
  key: string
  cert: string
}

/** A real HTTP server on 127.0.0.1 that records what it receives. */
export async function startReceiver(
  respond: Respond = (response) => response.end('ok'),
  { tls = null, host = '127.0.0.1' }: { tls?: Certificate | null; host?: string } = {},
) {
  const received: ReceivedRequest[] = []
  const state = { respond }
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
    state.respond(response, request)
  }
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener)
  server.on('clientError', (_error, socket) => socket.destroy())
  server.listen(0, host)
  await once(server, 'listening')
  onTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    received,
    url: `${tls === null ? 'http' : 'https'}://${host}:${port}/`,
    /** Changes the response to the following requests. */
    respondWith(next: Respond): void {
      state.respond = next
    },
  }
}

/** A certificate that signs itself, for one host name. */
export function createCertificate(host: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
    execFileSync('openssl', ['req', '-x509', ...newKey, ...names, '-days', '1', '-out', cert], { stdio: 'pipe' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
