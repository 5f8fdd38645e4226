import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { before, test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { createTokens } from '../../src/domain/votes/token.ts'
import { createForgedTokens } from './forged-tokens.ts'

// Set FUZZ_SEED to try others.
const attempts = 100_000
const attemptsOverHttp = 600
const connections = 8

onOneEngine('Forged tokens', (engine) => {
  const service = new TestService()
  service.trustedProxies = ['127.0.0.1']
  before(() => service.open(engine))

  test('of 100,000 forged, truncated, swapped and expired tokens, none is accepted', async () => {
    const { store, syncContext, now } = service
    const tokens = createTokens(store.keys, store.prompts, syncContext.vault)
    const { seed, valid, forge } = await createForgedTokens(service)
    for (const token of valid) assert.notEqual(await tokens.verify(token, now), null)
    const tried = new Set<string>()
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { kind, token } = forge(attempt)
      const accepted = await tokens.verify(token, now)
      if (accepted !== null) assert.fail(`accepted a token with ${kind} (FUZZ_SEED=${seed}): ${token}`)
      tried.add(token)
    }
    // A truncated token may be as short as one character.
    assert.ok(tried.size > 0.95 * attempts, `only ${tried.size} different tokens`)
    for (const token of valid) assert.notEqual(await tokens.verify(token, now), null)
  })

  test('of 600 over connections that also carry valid ones, each gets the same 401, and each valid one its vote', async (t) => {
    const { seed, valid, forge } = await createForgedTokens(service)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    const rejections = new Set<string>()
    let sent = 0

    /** Sends one vote after the other on one connection, each from an address of its own. The first and the last one are valid. */
    async function vote(connection: number): Promise<void> {
      const socket = await openSocket(port)
      t.after(() => socket.destroy())
      const send = async (token: string) => {
        const number = ++sent
        const body = JSON.stringify({ token, value: 'positive' })
        socket.write(
          `POST /api/v1/votes HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.${number >> 8}.${number & 255}\r\n` +
            `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        const [response] = (await once(socket, 'data')) as [Buffer]
        const [head = '', content = ''] = response.toString().split('\r\n\r\n')
        return { status: Number(head.slice(9, 12)), content }
      }
      const token = valid[connection % valid.length] as string
      assert.equal((await send(token)).status, 200)
      while (sent < attemptsOverHttp) {
        const { kind, token } = forge(sent)
        const { status, content } = await send(token)
        assert.equal(status, 401, `a token with ${kind} (FUZZ_SEED=${seed}): ${token}`)
        rejections.add(content)
      }
      assert.equal((await send(token)).status, 200)
    }
    await Promise.all(Array.from({ length: connections }, (_, connection) => vote(connection)))
    assert.equal(rejections.size, 1)
    const stored = await queryRows(service.url, 'select subject from signals')
    assert.equal(stored.length, valid.length)
  })
})
