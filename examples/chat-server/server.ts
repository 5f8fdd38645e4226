// A chat server whose answers have a thumb up and a thumb down. Run it with
//   PROMPTLEDGER_URL=… PROMPTLEDGER_KEY=… PROMPTLEDGER_PROMPT=pmt_… node server.ts
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Promptledger } from '@promptledger/client'
import { fileSpool } from '@promptledger/client/spool'
import Fastify from 'fastify'

const {
  PROMPTLEDGER_URL: baseUrl,
  PROMPTLEDGER_KEY: apiKey,
  PROMPTLEDGER_PROMPT: promptId = '',
  SPOOL = 'votes.spool',
  PORT = '3001',
} = process.env

const ledger = new Promptledger({ apiKey, baseUrl })
// Nobody who votes should wait for the ledger, and no vote should be lost: it is sent in the background, and kept in a file meanwhile.
const votes = ledger.signals.queue({ spool: fileSpool(SPOOL) })

const app = Fastify()
const page = await readFile(new URL('page.html', import.meta.url))

app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page))

app.post<{ Body: { question: string } }>('/chat', async ({ body }) => {
  // Your model answers here, with the prompt that the ledger follows.
  return { trace: randomUUID(), answer: `You asked: ${body.question}` }
})

app.post<{ Body: { trace: string; value: 'positive' | 'negative' } }>('/votes', async ({ body }, reply) => {
  const { trace, value } = body
  // The trace is the idempotency key: whoever clicks twice has voted once.
  votes.add(promptId, { value, metadata: { trace } }, { idempotencyKey: `${trace}-${value}` })
  return reply.status(202).send()
})

process.once('SIGTERM', async () => {
  await app.close()
  await votes.close({ timeout: 5_000 })
})

console.log(await app.listen({ port: Number(PORT) }))
