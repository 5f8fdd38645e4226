// A chat server whose users can rate each answer with thumbs up or thumbs down. To run it:
//   PROMPTLEDGER_URL=… PROMPTLEDGER_KEY=… PROMPTLEDGER_PROMPT=pmt_… node server.ts
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Promptledger } from '@promptledger/client'
import { fileSpool } from '@promptledger/client/spool'
import Fastify from 'fastify'

const { PROMPTLEDGER_PROMPT: promptId = '', SPOOL = 'votes.spool', PORT = '3001' } = process.env

const ledger = new Promptledger()
// Sends votes in the background, so that users never wait. The spool file keeps votes until they are recorded.
const votes = ledger.signals.queue({ spool: fileSpool(SPOOL) })

const app = Fastify()
const page = await readFile(new URL('page.html', import.meta.url))

app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page))

app.post<{ Body: { question: string } }>('/chat', async ({ body }) => {
  // Call your model here, with the prompt that Promptledger tracks.
  return { trace: randomUUID(), answer: `You asked: ${body.question}` }
})

app.post<{ Body: { trace: string; value: 'positive' | 'negative' } }>('/votes', async ({ body }, reply) => {
  const { trace, value } = body
  // The idempotency key makes a double click count as one vote.
  votes.add(promptId, { value, metadata: { trace } }, { idempotencyKey: `${trace}-${value}` })
  return reply.status(202).send()
})

process.once('SIGTERM', async () => {
  await app.close()
  await votes.close({ timeout: 5_000 })
})

console.log(await app.listen({ port: Number(PORT) }))
