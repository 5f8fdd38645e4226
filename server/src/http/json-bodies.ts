import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../domain/errors.ts'
import { limitContainers } from '../domain/json-containers.ts'
import { fastifyValidator } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as sent. Set once it is known to be a JSON object. */
    bodyText: string
  }
}

// Leaves room for 16 KiB of metadata several times over; unknown fields are ignored, but they must be bounded too.
export const bodyLimit = 64 * 1024

/** Makes the routes of `app` accept JSON bodies and nothing else. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('bodyText', '')

  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, bytes, done) => {
    done(null, bytes)
  })
  // Not by the parser, because Fastify closes the connection after an error of a parser. This body has arrived in full.
  app.addHook('preValidation', (request, _reply, done) => {
    const { body: bytes } = request
    if (!Buffer.isBuffer(bytes)) {
      done()
      return
    }
    try {
      // Some clients always send the header, also on requests that need no body.
      const isAbsent = bytes.length === 0 && isOptional(request.routeOptions.schema?.body)
      const { text, value } = isAbsent ? { text: '', value: undefined } : parseBody(bytes)
      request.bodyText = text
      request.body = value
      done()
    } catch (error) {
      done(error as Error)
    }
  })

  // Only bodies are validated. Path and query schemas are documentation: a malformed id is a 404, and an invalid
  // page falls back to the default.
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? fastifyValidator(schema as object) : () => true,
  )
}

/** Whether the body may be left out: its schema accepts null, which is what Fastify then validates. */
function isOptional(body: unknown): boolean {
  const { type } = (body ?? { type: 'null' }) as { type?: string | string[] }
  return [type].flat().includes('null')
}

/** Parses a JSON body. Fastify's own parser rejects keys such as `__proto__`, which are valid in metadata. */
export function parseBody(bytes: Buffer): { text: string; value: object } {
  if (bytes.length === 0) throw invalid('The body is empty: send a JSON object')
  if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8')
  if (bytes.length > bodyLimit) limitContainers(bytes)
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

// V8 quotes the text around the error. The position is enough, and the response must not echo the body.
function withoutExcerpt({ message }: SyntaxError): string {
  return /^[^,"]*/.exec(message)?.[0].trim() + (/ in JSON at position \d+/.exec(message)?.[0] ?? '')
}
