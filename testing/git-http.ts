import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestEnd } from './cleanup.ts'

/** A git server over plain http on 127.0.0.1, like a forge without TLS. */
export class GitHttpServer {
  port = 0
  /** The header that requests must have; null for a public server. */
  authorization: string | null = null
  /** The `Authorization` header of each request. */
  readonly received: (string | undefined)[] = []
  /** Paths on the server, and the folders that they lead to. */
  readonly folders = new Map<string, string>()
  /** Old paths on the server, and the new ones that they redirect to. */
  readonly redirects = new Map<string, string>()
  /** Whether the server announces that it can leave out files, but fails when it is asked to, as Gitea 1.16 does. */
  hasBrokenFilter = false
  /** After how many bytes a response breaks off, as when the server or the connection fails. */
  breakAfterBytes = Number.POSITIVE_INFINITY
  #server: Server | null = null

  async start(): Promise<this> {
    this.#server = createServer((request, response) => this.#respond(request, response)).listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    onTestEnd(() => this.#server?.close())
    return this
  }

  url(path: string, host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`
  }

  /** Basic authentication with the token, as the service sends it for GitHub. */
  requireToken(token: string): void {
    this.authorization = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    this.received.push(request.headers.authorization)
    const { pathname, search } = new URL(request.url as string, 'http://server')
    const [, path = '', rest = ''] = /^(.+?)(\/(?:info\/refs|git-upload-pack))$/.exec(pathname) ?? []
    const target = this.redirects.get(path)
    if (target !== undefined) {
      response.writeHead(302, { location: `${target}${rest}${search}` }).end()
    } else if (this.authorization !== null && request.headers.authorization !== this.authorization) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    } else if (!this.folders.has(path)) {
      response.writeHead(404).end()
    } else {
      const settings: Record<string, string> = this.hasBrokenFilter
        ? { 'uploadpack.allowFilter': String(rest === '/info/refs'), 'uploadpack.allowAnySHA1InWant': 'true' }
        : {}
      const options = { settings, breakAfterBytes: this.breakAfterBytes }
      serveGit(this.folders.get(path) as string, rest, search, request, response, options)
    }
  }
}

/** Runs git's own CGI program. */
export function serveGit(
  folder: string,
  rest: string,
  search: string,
  request: IncomingMessage,
  response: ServerResponse,
  {
    breakAfterBytes = Number.POSITIVE_INFINITY,
    settings = {},
  }: { breakAfterBytes?: number; settings?: Record<string, string> } = {},
): void {
  const configured = Object.entries(settings)
  const env = {
    PATH: process.env.PATH,
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    PATH_INFO: rest,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    GIT_CONFIG_COUNT: String(configured.length),
    ...Object.fromEntries(
      configured.flatMap(([name, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, name],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  }
  const program = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  request.pipe(program.stdin)
  const chunks: Buffer[] = []
  program.stdout.on('data', (chunk) => chunks.push(chunk))
  program.on('close', () => {
    const output = Buffer.concat(chunks)
    const end = output.indexOf('\r\n\r\n')
    const headers = output.subarray(0, end).toString().split('\r\n')
    const status = headers.find((line) => line.startsWith('Status: '))?.slice(8, 11) ?? '200'
    for (const line of headers) {
      const [, name, value] = /^([^:]+): (.*)$/.exec(line) ?? []
      if (name !== undefined && value !== undefined && name !== 'Status') response.setHeader(name, value)
    }
    const body = output.subarray(end + 4)
    response.writeHead(Number(status))
    if (body.length <= breakAfterBytes) response.end(body)
    else response.write(body.subarray(0, breakAfterBytes), () => response.destroy())
  })
}
