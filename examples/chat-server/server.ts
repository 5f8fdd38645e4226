// A chat server whose users can rate each answer, change their mind, and say why. To run it:
//   PROMPTLEDGER_URL=… PROMPTLEDGER_KEY=… PROMPTLEDGER_PROMPT=prompts/support.md node server.ts
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Promptledger } from '@promptledger/client'
import { fileSpool } from '@promptledger/client/spool'
import Fastify, { type FastifyRequest } from 'fastify'

const {
  // The ID, name or path of the prompt.
  PROMPTLEDGER_PROMPT: prompt = '',
  // The commit that the prompt was deployed from. Votes count for it even if they arrive after the next deployment.
  PROMPT_VERSION: version = null,
  SPOOL = 'votes.spool',
  PORT = '3001',
} = process.env

const ledger = new Promptledger()
// Sends votes in the background, so that users never wait. The spool file keeps votes until they are recorded.
const votes = ledger.signals.queue({ spool: fileSpool(SPOOL) })

const app = Fastify()
const page = await readFile(new URL('page.html', import.meta.url))
// Who got which answer. Use your database here.
const askers = new Map<string, string>()

app.get('/', (request, reply) => {
  // Use your own sign-in here.
  if (userOf(request) === undefined) reply.header('Set-Cookie', `user=${randomUUID()}; HttpOnly; SameSite=Lax`)
  return reply.type('text/html; charset=utf-8').send(page)
})

app.post<{ Body: { question: string } }>('/chat', async (request) => {
  const id = randomUUID()
  askers.set(id, userOf(request) ?? '')
  // Call your model here, with the prompt that Promptledger tracks.
  return { id, answer: `You asked: ${request.body.question}` }
})

interface Vote {
  Params: { id: string }
  Body: { value: 'positive' | 'negative' | null; comment: string }
}

const body = {
  type: 'object',
  required: ['value', 'comment'],
  properties: { value: { enum: ['positive', 'negative', null] }, comment: { type: 'string', maxLength: 2_000 } },
}

app.post<Vote>('/answers/:id/vote', { schema: { body } }, async (request, reply) => {
  const { id } = request.params
  const { value, comment } = request.body
  const user = userOf(request)
  if (user === undefined || askers.get(id) !== user) return reply.status(404).send()
  // There is one vote for each subject: a further one replaces it, and null withdraws it.
  votes.add(prompt, {
    value,
    subject: id,
    version,
    voter: user,
    comment: comment || null,
    occurred_at: new Date().toISOString(),
  })
  return reply.status(202).send()
})

function userOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /(?:^|; )user=([\w-]+)/.exec(headers.cookie ?? '')?.[1]
}

process.once('SIGTERM', async () => {
  await app.close()
  await votes.close({ timeout: 5_000 })
})

console.log(await app.listen({ port: Number(PORT) }))
