import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../errors.ts'
import { pageHeaders, usePageHeaders } from '../security-headers.ts'
import { acceptedEncoding, encodings } from './accepted-encoding.ts'
import type { ConsoleFile, createFileLookup } from './files.ts'

/** Paths that serve the console's index.html, which then routes in the browser. */
export const pagePaths = [
  '/',
  '/sign-in',
  '/prompts',
  '/prompts/*',
  '/regressions',
  '/trials',
  '/trials/*',
  '/texts',
  '/shared',
  '/usage',
  '/audit',
  '/settings',
  '/keys',
  '/people',
  '/repositories',
  '/repositories/*',
  '/alerts',
  '/alerts/*',
  '/sources',
  '/sources/*',
]

/** Paths of its files: hashed names under /assets, and an icon and the like next to index.html. */
export const filePaths = ['/assets/*', '/:file']

const method = ['GET', 'HEAD']

const htmlType = 'text/html; charset=utf-8'

const immutable = 'public, max-age=31536000, immutable'
const revalidate = 'no-cache'

export const consolePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Promptledger</title>
</head>
<body>
<h1>Promptledger</h1>
<p>The service is running, but its console is not built. Run <code>npm run build</code> and reload this page.</p>
<p>The API works without it: see the <a href="/docs">API reference</a>.</p>
</body>
</html>
`

// Their unknown paths get JSON, also in a browser, and with a slash too many after the host.
const apiPaths = /^\/+(api|webhooks)(\/|$)/

type FileLookup = ReturnType<typeof createFileLookup>

/** For paths that no route knows: browsers get the console, which shows "Page not found", and programs JSON. */
export function consoleNotFound(find: FileLookup) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { method, url, headers } = request
    const isBrowser = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html')
    if (!isBrowser || apiPaths.test(url)) throw notFound()
    const index = await find('index.html')
    const html = index === null ? notBuilt : await index.bytes(null)
    return reply
      .headers({ ...pageHeaders, 'Content-Security-Policy': consolePolicy, 'Cache-Control': 'no-store' })
      .status(404)
      .type(htmlType)
      .send(html)
  }
}

/** Serves the web console: static files that get all their data from the API. */
export function consoleRoutes(app: FastifyInstance, find: FileLookup): void {
  const sendNotFound = consoleNotFound(find)

  usePageHeaders(app, consolePolicy)

  for (const url of pagePaths) {
    app.route({
      method,
      url,
      async handler(request, reply) {
        const index = await find('index.html')
        if (index !== null) {
          const hasSession = app.cookies.sessionTokenIn(request.headers.cookie) !== null
          reply.header('Link', preloadHeader(request.url, hasSession))
          return sendFile(request, reply, index, revalidate)
        }
        return reply.type(htmlType).header('Cache-Control', 'no-store').send(notBuilt)
      },
    })
  }

  for (const url of filePaths) {
    app.route({
      method,
      url,
      async handler(request, reply) {
        // The request only ever selects a known name. Building a path from it would allow path traversal.
        const { '*': asset, file } = request.params as { '*'?: string; file?: string }
        const requested = await find(file ?? `assets/${asset}`)
        if (requested === null) return sendNotFound(request, reply)
        return sendFile(request, reply, requested, file === undefined ? immutable : revalidate)
      },
    })
  }
}

export async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: ConsoleFile, caching: string) {
  const etag = await file.etag()
  reply.header('Cache-Control', caching).header('ETag', etag)
  if (file.compressible) reply.header('Vary', 'Accept-Encoding')
  if (headers['if-none-match']?.includes(etag.replace('W/', ''))) return reply.status(304).send()
  const encoding = file.compressible ? acceptedEncoding(headers['accept-encoding'], encodings) : null
  const bytes = await file.bytes(encoding)
  if (encoding !== null) reply.header('Content-Encoding', encoding)
  return reply.type(file.type).send(bytes)
}

const session = '/api/v1/session'
// As the console requests it: the browser compares whole URLs. A test compares both.
const home = [session, '/api/v1/prompts?page=1&q=&sort=regression']

/**
 * What the browser should request while it still loads the scripts, as a Link header. Every page asks for the session first.
 * Without one, lists would only get 401.
 */
function preloadHeader(url: string, hasSession: boolean): string {
  const isHome = url === '/' || url === '/prompts'
  const paths = isHome && hasSession ? home : [session]
  return paths.map((path) => `<${path}>; rel=preload; as=fetch; crossorigin`).join(', ')
}
