import type { FastifyInstance } from 'fastify'
import type { createFileLookup } from '../console/files.ts'
import { consoleNotFound, consolePolicy, sendFile } from '../console/routes.ts'
import { usePageHeaders } from '../security-headers.ts'

/** The part of an application that the demo plays: it signs the tokens that its page votes with. */
export interface DemoApplication {
  /** The public ID of the prompt that is voted on. */
  prompt: string
  sign(): Promise<string>
}

// The page has fewer buttons.
const tokenCount = 10

/** Only registered by `promptledger demo`: a page whose users vote. Its sources are in console/demo. */
export function demoRoutes(
  app: FastifyInstance,
  application: DemoApplication,
  find: ReturnType<typeof createFileLookup>,
): void {
  const sendNotFound = consoleNotFound(find)

  usePageHeaders(app, consolePolicy)

  app.get('/demo/thumbs', async (request, reply) => {
    const page = await find('demo/thumbs.html')
    return page === null ? sendNotFound(request, reply) : sendFile(request, reply, page, 'no-cache')
  })

  app.get('/demo/tokens', async (_request, reply) => {
    const tokens = await Promise.all(Array.from({ length: tokenCount }, () => application.sign()))
    return reply.header('Cache-Control', 'no-store').send({ prompt: application.prompt, tokens })
  })
}
