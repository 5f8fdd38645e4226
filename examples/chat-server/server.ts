// A chat server whose users can rate each answer, change their mind, and say why. To run it:
//   PROMPTLEDGER_URL=… PROMPTLEDGER_SIGNING_KEY=pls_… PROMPTLEDGER_PROMPT=pmt_… node server.ts
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Promptledger } from '@promptledger/client'
import Fastify, { type FastifyRequest } from 'fastify'

const {
  PROMPTLEDGER_URL: endpoint,
  // The ID of the prompt. Signing sends no request, so it cannot look up a name.
  PROMPTLEDGER_PROMPT: prompt = '',
  // The commit that the prompt was deployed from. Votes count for it even if they arrive after the next deployment.
  PROMPT_VERSION: version,
  PORT = '3001',
} = process.env

const ledger = new Promptledger()
const app = Fastify()
const page = await readFile(new URL('page.html', import.meta.url))
// An application with a build step imports it instead.
const thumbs = await readFile(new URL(import.meta.resolve('@promptledger/client/thumbs')))

app.get('/', (request, reply) => {
  // Use your own sign-in here.
  if (userOf(request) === undefined) reply.header('Set-Cookie', `user=${randomUUID()}; HttpOnly; SameSite=Lax`)
  return reply.type('text/html; charset=utf-8').send(page)
})

app.get('/thumbs.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(thumbs))

app.post<{ Body: { question: string } }>('/chat', async (request) => {
  // Call your model here, with the prompt that Promptledger tracks.
  const answer = `You asked: ${request.body.question}`
  // Lets this user, and no other, vote on this answer.
  const token = await ledger.tokens.sign({ prompt, version, subject: randomUUID(), voter: userOf(request) })
  return { answer, token, endpoint }
})

function userOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /(?:^|; )user=([\w-]+)/.exec(headers.cookie ?? '')?.[1]
}

process.once('SIGTERM', () => app.close())

console.log(await app.listen({ port: Number(PORT) }))
