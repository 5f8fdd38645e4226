import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { createTokens } from '../../server/src/domain/votes/token.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { sqlite } from '../../testing/engines.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { type NewToken, Promptledger } from '../src/index.ts'
import { signToken } from '../src/resources/tokens.ts'
import { useLiveService } from './live-service.ts'

/** The same table for every client. */
const {
  signing_key: signingKey,
  now_ms: now,
  vectors,
  rejected,
  malformed_signing_keys: malformedKeys,
} = JSON.parse(readFileSync(new URL('token-vectors.json', import.meta.url), 'utf8')) as {
  signing_key: string
  now_ms: number
  vectors: { name: string; token: NewToken; signed: string }[]
  rejected: { token: NewToken; message: string }[]
  malformed_signing_keys: string[]
}

const prompt = 'pmt_9VqXw2LmT4cRy8Zk1AbC3dEf'

describe('Signing tokens', () => {
  const service = useLiveService(sqlite)

  for (const { name, token, signed } of vectors) {
    test(`every client signs the same bytes: ${name}`, async () => {
      assert.equal(await signToken(signingKey, token, now), signed)
    })
  }

  test('the service accepts what the client signs, with the same version, subject and voter', async () => {
    const tenant = await service.tenant()
    const { secret } = await createSigningKey(service, tenant)
    const tokens = createTokens(service.store.keys, service.store.prompts, service.syncContext.vault)
    for (const { name, token } of vectors) {
      const signed = await signToken(secret, { ...token, prompt: tenant.prompt.publicId }, service.now)
      const { version, subject, voter } = (await tokens.verify(signed, service.now)) ?? {}
      const sent = token.version === undefined ? null : String(token.version).toLowerCase()
      assert.deepEqual(
        [version?.replace('#', '') ?? null, subject, voter ?? null],
        [sent, token.subject, token.voter ?? null],
        name,
      )
    }
  })

  test('signing sends no request, and needs no API key and no URL', async () => {
    const ledger = new Promptledger({ signingKey, fetch: () => assert.fail('sent a request') })
    const before = Math.floor(Date.now() / 1_000)
    const token = await ledger.tokens.sign({ prompt, subject: 'a' })
    const payload = JSON.parse(Buffer.from(token.slice(4).split('.')[0] as string, 'base64url').toString())
    assert.ok(payload.e >= before + 3_600 && payload.e <= Date.now() / 1_000 + 3_600)
    await assert.rejects(ledger.usage.get(), { name: 'TypeError', message: /^No (API key|baseUrl)/ })
  })

  test('without Web Crypto, as in Node 18, the error says what is needed', async () => {
    const { crypto } = globalThis
    onTestEnd(() => Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true }))
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true })
    const ledger = new Promptledger({ signingKey })
    await assert.rejects(ledger.tokens.sign({ prompt, subject: 'a' }), /^TypeError: Signing needs Web Crypto: Node 20/)
  })

  test('a client that only signs has no queue, which would drop every signal', () => {
    const ledger = new Promptledger({ signingKey })
    assert.throws(() => ledger.signals.queue(), /No (API key|baseUrl)/)
  })

  test('the signing key comes from the environment unless an option names another, and is not printed', async () => {
    const before = { ...process.env }
    onTestEnd(() => {
      process.env = before
    })
    process.env = { ...before, PROMPTLEDGER_SIGNING_KEY: signingKey }
    const ledger = new Promptledger()
    assert.match(await ledger.tokens.sign({ prompt, subject: 'a' }), /^plt_/)
    assert.ok(!inspect(ledger, { depth: 9, showHidden: true }).includes(signingKey.slice(21)))
    const other = signingKey.replace('9VqX', '0000')
    const token = await new Promptledger({ signingKey: other }).tokens.sign({ prompt, subject: 'a' })
    assert.match(Buffer.from(token.slice(4), 'base64url').toString(), /"k":"0000w2Lm/)
    process.env = { ...before, PROMPTLEDGER_SIGNING_KEY: '' }
    const without = new Promptledger({ apiKey: 'plk_x', baseUrl: 'https://ledger.example' })
    await assert.rejects(without.tokens.sign({ prompt, subject: 'a' }), {
      message: /^No signing key: set PROMPTLEDGER_/,
    })
  })

  test('what the service would reject is not signed, and the error names the field but not the key', async () => {
    const { tokens } = new Promptledger({ signingKey })
    for (const { token, message } of rejected) await assert.rejects(tokens.sign(token), { message })
    const valid = { prompt, subject: 'a' }
    // Undefined stands for a member that is missing; null often stands for one that was not found.
    await assert.rejects(tokens.sign({ ...valid, voter: null } as unknown as NewToken), { message: /^voter must have/ })
    await assert.rejects(tokens.sign({ ...valid, expiresIn: Number.NaN }), { message: /^expiresIn must be/ })
    for (const key of [...malformedKeys, `${signingKey} `]) {
      const signing = new Promptledger({ signingKey: key }).tokens.sign(valid)
      await assert.rejects(signing, {
        message: 'The signing key is malformed: it starts with pls_ and has 70 characters',
      })
    }
  })
})
