import type { FastifyInstance } from 'fastify'
import { bodyLimit, parseBody } from './body.ts'
import { validator } from './validate.ts'

/** Lets the routes of `app` take JSON bodies, and nothing else. */
export function takeJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('bodyText', '')

  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer', bodyLimit }, (request, bytes, done) => {
    // Clients that always send the header send it with nothing too, which is right where nothing is asked for.
    if (bytes.length === 0 && mayBeMissing(request.routeOptions.schema?.body)) {
      done(null, undefined)
      return
    }
    try {
      const { text, value } = parseBody(bytes)
      request.bodyText = text
      done(null, value)
    } catch (error) {
      done(error as Error)
    }
  })

  // Bodies are checked against their schema. Paths and queries are only described by theirs: a path that fits nothing is
  // not found, and a page that makes no sense falls back to the default.
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? validator(schema as object) : () => true))
}

/** Whether a request is fine without a body: the validator sees null in its place. */
function mayBeMissing(body: unknown): boolean {
  const { type } = (body ?? { type: 'null' }) as { type?: string | string[] }
  return [type].flat().includes('null')
}
