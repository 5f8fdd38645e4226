import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { malformedRequestSchema } from '../error-schema.ts'
import { lazy } from '../lazy.ts'
import type { Document } from './openapi-document.ts'

const service = { tags: ['Service'] }

/** The API reference: OpenAPI for programs, a page for people. Both are generated from the routes. */
export function docsRoutes(routes: RouteOptions[]) {
  // Generated on the first request, so that start-up does not wait for it.
  const document = lazy(async () => (await import('./openapi.ts')).describeRoutes(routes))
  const text = lazy(async () => `${JSON.stringify(await document(), null, 2)}\n`)
  const page = lazy(async () => renderReferencePage(await document()))

  return async (app: FastifyInstance) => {
    app.get(
      '/openapi.json',
      {
        schema: {
          ...service,
          operationId: 'getOpenApi',
          summary: 'Get the OpenAPI document',
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
          summary: 'Get the API reference',
          response: {
            200: {
              description: 'The API reference as an HTML page',
              content: { 'text/html': { schema: { type: 'string' } } },
            },
            422: malformedRequestSchema,
          },
        },
      },
      async (_request, reply) => {
        const { html, policy } = await page()
        return reply
          .type('text/html; charset=utf-8')
          .header('Content-Security-Policy', policy)
          .header('Referrer-Policy', 'no-referrer')
          .send(html)
      },
    )
  }
}

/** The page, with a content security policy that allows its inline style and nothing else. */
async function renderReferencePage(document: Document): Promise<{ html: string; policy: string }> {
  const { renderDocsPage: renderPage } = await import('./page.ts')
  const style = await readFile(new URL('./page.css', import.meta.url), 'utf8')
  const hash = createHash('sha256').update(style).digest('base64')
  const blocked = ['default-src', 'base-uri', 'form-action', 'frame-ancestors'].map((kind) => `${kind} 'none'`)
  return { html: renderPage(document, style), policy: [...blocked, `style-src 'sha256-${hash}'`].join('; ') }
}
