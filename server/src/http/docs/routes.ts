import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { malformedRequestSchema } from '../error-schema.ts'
import { lazy } from '../lazy.ts'
import type { Document } from './openapi-document.ts'

const service = { tags: ['Service'] }

/** The interface's description of itself, for programs and for people. */
export function docsRoutes(routes: RouteOptions[]) {
  // All of it is loaded and made when somebody first asks, so that no start waits for it.
  const document = lazy(async () => (await import('./openapi.ts')).describeRoutes(routes))
  const text = lazy(async () => `${JSON.stringify(await document(), null, 2)}\n`)
  const page = lazy(async () => renderReference(await document()))

  return async (app: FastifyInstance) => {
    app.get(
      '/openapi.json',
      {
        schema: {
          ...service,
          operationId: 'getOpenApi',
          summary: 'This interface in OpenAPI',
          response: { 200: { type: 'object', description: 'An OpenAPI 3.1 document' }, 422: malformedRequestSchema },
        },
      },
      async (_request, reply) => reply.type('application/json; charset=utf-8').send(await text()),
    )

    app.get(
      '/docs',
      {
        schema: {
          ...service,
          operationId: 'getReference',
          summary: 'This interface for people',
          response: {
            200: { description: 'One page of HTML', content: { 'text/html': { schema: { type: 'string' } } } },
            422: malformedRequestSchema,
          },
        },
      },
      async (_request, reply) => {
        const { html, policy } = await page()
        return reply
          .type('text/html; charset=utf-8')
          .header('Content-Security-Policy', policy)
          .header('X-Content-Type-Options', 'nosniff')
          .header('Referrer-Policy', 'no-referrer')
          .send(html)
      },
    )
  }
}

/** The page, and a policy under which a browser runs no script and loads nothing for it but its own style. */
async function renderReference(document: Document): Promise<{ html: string; policy: string }> {
  const { renderDocsPage: renderPage } = await import('./page.ts')
  const style = await readFile(new URL('./page.css', import.meta.url), 'utf8')
  const hash = createHash('sha256').update(style).digest('base64')
  const nothing = ['default-src', 'base-uri', 'form-action', 'frame-ancestors'].map((kind) => `${kind} 'none'`)
  return { html: renderPage(document, style), policy: [...nothing, `style-src 'sha256-${hash}'`].join('; ') }
}
