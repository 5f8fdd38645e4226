import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../domain/errors.ts'
import { validator } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent, once it is known to be the JSON text of an object. */
    bodyText: string
  }
}

// Metadata of 16 KiB fits several times over; whatever else comes along is ignored, but not without end.
export const bodyLimit = 64 * 1024

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

/** Parses a JSON body. Fastify's own parser refuses keys such as `__proto__`, which are welcome here. */
export function parseBody(bytes: Buffer): { text: string; value: object } {
  if (bytes.length === 0) throw invalid('The body is empty: send a JSON object')
  if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8')
  const text = bytes.toString()
  return { text, value: parseObject('The body', text) }
}

export function parseObject(subject: string, text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid(`${subject} is not valid JSON: ${withoutExcerpt(error as SyntaxError)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${subject} must be a JSON object`)
  }
  return value
}

// V8 quotes the text around the mistake; the position says enough without repeating what was sent.
function withoutExcerpt({ message }: SyntaxError): string {
  return /^[^,"]*/.exec(message)?.[0].trim() + (/ in JSON at position \d+/.exec(message)?.[0] ?? '')
}
