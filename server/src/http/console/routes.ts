import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { acceptedEncoding } from './accepted-encoding.ts'
import { type ConsoleFile, createFileLookup } from './files.ts'

/** Where the console shows a page; which one, it finds out by itself. */
export const pagePaths = [
  '/',
  '/sign-in',
  '/prompts',
  '/prompts/*',
  '/usage',
  '/keys',
  '/repositories',
  '/repositories/*',
]

/** What its pages are made of: names with a hash under /assets, an icon and the like beside index.html. */
export const filePaths = ['/assets/*', '/:file']

const method = ['GET', 'HEAD']
// The console is not the interface.
const schema = { hide: true }

const forever = 'public, max-age=31536000, immutable'
const askAgain = 'no-cache'

const protection = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Promptledger</title>
</head>
<body>
<h1>Promptledger</h1>
<p>The service runs, but its console is not built. Build it with <code>npm run build</code> and load this page again.</p>
<p>The interface is described in <a href="/docs">the reference</a>.</p>
</body>
</html>
`

/** The web console: files that a browser makes everything else of, by way of the interface. */
export function consoleRoutes({ consoleFolder }: Context) {
  const find = createFileLookup(consoleFolder)

  return async (app: FastifyInstance) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.headers(protection)
      done()
    })

    for (const url of pagePaths) {
      app.route({
        method,
        url,
        schema,
        async handler(request, reply) {
          const index = await find('index.html')
          if (index !== null) return answer(request, reply, index, askAgain)
          return reply.type('text/html; charset=utf-8').header('Cache-Control', 'no-store').send(notBuilt)
        },
      })
    }

    for (const url of filePaths) {
      app.route({
        method,
        url,
        schema,
        async handler(request, reply) {
          // Only ever a name to look up: no path is made of what somebody asks for.
          const { '*': asset, file } = request.params as { '*'?: string; file?: string }
          const found = await find(file ?? `assets/${asset}`)
          if (found === null) throw notFound()
          return answer(request, reply, found, file === undefined ? forever : askAgain)
        },
      })
    }
  }
}

async function answer({ headers }: FastifyRequest, reply: FastifyReply, file: ConsoleFile, caching: string) {
  const etag = await file.etag()
  reply.header('Cache-Control', caching).header('ETag', etag)
  if (file.compressible) reply.header('Vary', 'Accept-Encoding')
  if (headers['if-none-match']?.includes(etag.replace('W/', ''))) return reply.status(304).send()
  const encoding = file.compressible ? acceptedEncoding(headers['accept-encoding']) : null
  const bytes = await file.bytes(encoding)
  if (encoding !== null) reply.header('Content-Encoding', encoding)
  return reply.type(file.type).send(bytes)
}
