import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { operations } from '../../../../contract/service.ts'
import { referenceFolder } from '../../files.ts'
import { acceptedEncoding, type Encoding, encodings } from '../console/accepted-encoding.ts'
import { lazy } from '../lazy.ts'
import { route } from '../route.ts'
import { usePageHeaders } from '../security-headers.ts'
import type { Document } from './openapi-document.ts'

/** The script of the page and what it imports. */
const scripts = [
  'confirm.js',
  'copy.js',
  'element.js',
  'form.js',
  'operations.js',
  'page.js',
  'prompt-ids.js',
  'response.js',
  'search.js',
  'session.js',
  'try-it.js',
]

/** Paths of the scripts, which are no part of the API. */
export const scriptPaths = scripts.map((name) => `/docs/${name}`)

const nothingAllowed = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A text as bytes, and the same compressed. All responses share them: the document and the page are a few hundred kilobytes. */
interface Content extends Record<Encoding, Buffer> {
  plain: Buffer
}

/** The API reference: OpenAPI for programs, a page for people. Both are generated from the contract. */
export function docsRoutes(app: FastifyInstance): void {
  // Generated on the first request, so that start-up does not wait for it.
  const document = lazy(async () => (await import('./openapi.ts')).describeApi())
  const openapi = lazy(async () => compress(`${JSON.stringify(await document(), null, 2)}\n`))
  const page = lazy(async () => renderReferencePage(await document()))

  async function sendPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { html, policy } = await page()
    reply.type('text/html; charset=utf-8').header('Content-Security-Policy', policy)
    return send(request, reply, html)
  }

  usePageHeaders(app, nothingAllowed)

  route(app, operations.getOpenApi, async (request, reply) =>
    send(request, reply.type('application/json; charset=utf-8'), await openapi()),
  )

  route(app, operations.getReference, sendPage)
  // People check an address with HEAD, and type it with a slash.
  app.head('/docs', sendPage)
  app.get('/docs/', (_request, reply) => reply.redirect('/docs', 308))

  for (const name of scripts) {
    const script = lazy(async () => compress(await readScript(name)))
    app.get(`/docs/${name}`, async (request, reply) => {
      reply.type('text/javascript; charset=utf-8').header('Cache-Control', 'no-cache')
      return send(request, reply, await script())
    })
  }
}

async function compress(text: string): Promise<Content> {
  const plain = Buffer.from(text)
  return { plain, br: await promisify(brotliCompress)(plain, brotliOptions), gzip: await promisify(gzip)(plain) }
}

// The default quality takes seconds.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

function send({ headers }: FastifyRequest, reply: FastifyReply, content: Content): FastifyReply {
  reply.header('Vary', 'Accept-Encoding')
  const encoding = acceptedEncoding(headers['accept-encoding'], encodings)
  if (encoding === null) return reply.send(content.plain)
  return reply.header('Content-Encoding', encoding).send(content[encoding])
}

function readScript(name: string): Promise<string> {
  return readFile(new URL(`browser/${name}`, referenceFolder), 'utf8')
}

/**
 * The page, with a content security policy that allows its inline style, its scripts and requests to this service, and nothing
 * else. Trusted types without a policy make browsers refuse to turn any text into HTML.
 */
async function renderReferencePage(document: Document): Promise<{ html: Content; policy: string }> {
  const { renderDocsPage: renderPage } = await import('./page.ts')
  const style = await readFile(new URL('page.css', referenceFolder), 'utf8')
  const hash = createHash('sha256').update(style).digest('base64')
  const allowed = [`style-src 'sha256-${hash}'`, "script-src 'self'", "connect-src 'self'"]
  const noHtml = ["require-trusted-types-for 'script'", "trusted-types 'none'"]
  return {
    html: await compress(renderPage(document, style)),
    policy: [nothingAllowed, ...allowed, ...noHtml].join('; '),
  }
}
