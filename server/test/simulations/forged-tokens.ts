import { createHash } from 'node:crypto'
import { queryRows } from '../../../testing/rows.ts'
import type { Tenant, TestService } from '../../../testing/service.ts'
import { createSigningKey, type Payload, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'
import type { IssuedKey } from '../../src/domain/access/api-key.ts'

/** Tokens of two organisations, and others that no service may accept. The same ones in every run with a seed. */
export interface ForgedTokens {
  seed: number
  /** One token of each signing key. */
  valid: string[]
  /** The forged token of this number, and what is wrong with it. */
  forge(number: number): { kind: string; token: string }
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
const characters = [...letters, '.', '=', '+', '/', ' ']

/** A random number below `limit` (mulberry32). */
function createRandom(state: number): (limit: number) => number {
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

export async function createForgedTokens(service: TestService): Promise<ForgedTokens> {
  const seed = Number(process.env.FUZZ_SEED ?? 21)
  const random = createRandom(seed)
  const one = <Value>(values: readonly Value[]) => values[random(values.length)] as Value
  const { now } = service
  // Two organisations, each with two keys: whatever is swapped between them has to be rejected.
  const senders: (IssuedKey & { tenant: Tenant })[] = []
  for (const tenant of [await service.tenant(), await service.tenant()]) {
    for (let keys = 0; keys < 2; keys++) senders.push({ tenant, ...(await createSigningKey(service, tenant)) })
  }
  // What a person with a copy of the database could sign with.
  const stolen = await queryRows(service.url, 'select hash, sealed_secret, signing_id from api_keys')
  const stolenTexts = stolen.flatMap((row) => Object.values(row)).filter((text) => typeof text === 'string')

  function valid({ tenant, secret } = one(senders), members: Partial<Payload> = {}): string {
    const optional = {
      ...(random(2) === 0 && { v: 1 + random(1e6) }),
      ...(random(2) === 0 && { u: `u${random(1e6)}` }),
    }
    return signPayload(secret, payloadFor(secret, tenant, now, { s: `s${random(1e9)}`, ...optional, ...members }))
  }
  function edited(token: string, change: (payload: Payload) => unknown): string {
    const [signed = '', signature] = token.slice(4).split('.')
    const payload = JSON.parse(Buffer.from(signed, 'base64url').toString())
    return `plt_${Buffer.from(JSON.stringify(change(payload))).toString('base64url')}.${signature}`
  }
  const noise = (length: number) => Array.from({ length }, () => one(letters)).join('')

  const forgeries: Record<string, () => string> = {
    'one other character': () => {
      const token = valid()
      const place = random(token.length)
      const other = one(characters.filter((character) => character !== token[place]))
      return token.slice(0, place) + other + token.slice(place + 1)
    },
    truncated: () => {
      const token = valid()
      return random(2) === 0 ? token.slice(0, random(token.length)) : token.slice(1 + random(token.length))
    },
    'a character more or less': () => {
      const token = valid()
      const place = random(token.length)
      const added = random(2) === 0 ? one(letters) : ''
      const result = token.slice(0, place) + added + token.slice(added === '' ? place + 1 : place)
      return result === token ? `${token}${token}` : result
    },
    'the signature of another token': () => `${valid().split('.')[0]}.${valid().split('.')[1]}`,
    'another payload': () =>
      edited(valid(), (payload) =>
        one([
          { ...payload, s: `${payload.s}x` },
          { ...payload, p: one(senders).tenant.prompt.publicId.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) },
          { ...payload, e: payload.e + 1 },
          { ...payload, u: 'someone else' },
          { ...payload, v: 1e9 },
          { ...payload, k: noise(16).replaceAll(/[-_]/g, '0') },
        ]),
      ),
    'the prompt of another organisation': () => {
      const [mine, theirs] = random(2) === 0 ? [0, 2] : [2, 0]
      return valid(senders[mine + random(2)], { p: senders[theirs]?.tenant.prompt.publicId as string })
    },
    'another key under the ID of a known one': () => {
      const [first, other] = [random(4), 1 + random(3)]
      const signer = senders[(first + other) % 4] as (typeof senders)[number]
      const { tenant, secret } = senders[first] as (typeof senders)[number]
      return signPayload(signer.secret, payloadFor(secret, tenant, now, { s: noise(8) }))
    },
    'what the database stores instead of the key': () => {
      const { tenant, secret } = one(senders)
      const key = one([...stolenTexts, createHash('sha256').update(secret).digest('hex'), '', 'null', 'undefined'])
      return signPayload(key as string, payloadFor(secret, tenant, now, { s: noise(8) }))
    },
    expired: () => valid(one(senders), { e: Math.floor(now / 1_000) - random(1e6) }),
    'valid for too long': () => valid(one(senders), { e: Math.floor(now / 1_000) + 7 * 86_400 + 61 + random(1e6) }),
    noise: () => `plt_${noise(1 + random(900))}.${noise(random(60))}`,
    'an unknown key': () => {
      const { tenant, secret } = one(senders)
      return signPayload(secret, payloadFor(secret, tenant, now, { k: noise(16).replaceAll(/[-_]/g, '0') }))
    },
  }
  const kinds = Object.entries(forgeries)
  return {
    seed,
    valid: senders.map((sender) => valid(sender)),
    forge(number) {
      const [kind, forgery] = kinds[number % kinds.length] as [string, () => string]
      return { kind, token: forgery() }
    },
  }
}
