import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { isActive, isSigningId, type KeyStore, type SigningAccess } from '../access/api-key.ts'
import { lookupId, matchesPromptGlob, type Prompt, type PromptStore } from '../prompt.ts'
import type { Vault } from '../repositories/vault.ts'
import { maxClockSkewMs, validLabel } from '../signals/details.ts'
import { maxLabelLength, type VersionText, validVersion } from '../signals/version.ts'
import { isLongerThan } from '../text.ts'
import { day, type Instant } from '../time.ts'

/**
 * A token lets a page vote on one subject of one prompt. An application signs it with its signing key, without a request:
 * `plt_<payload>.<signature>`, where the payload is JSON in base64url, and the signature is the HMAC-SHA-256 of everything before
 * the dot, in base64url.
 */
interface Tokens {
  /** What the token allows. Null if it is wrong in any way, so that no response can tell more. */
  verify(token: unknown, now: Instant): Promise<VerifiedToken | null>
}

export interface VerifiedToken {
  access: SigningAccess
  prompt: Prompt
  version: VersionText | null
  subject: string
  /** As the application named them, not hashed. */
  voter: string | null
}

interface Claims extends Omit<VerifiedToken, 'access' | 'prompt'> {
  signingId: string
  promptId: string
  expiresAt: Instant
}

export const maxTokenLength = 1_024
const maxTokenLifetimeMs = 7 * day

// 43 characters are 256 bits in base64url.
const shape = /^(plt_([\w-]+))\.([\w-]{43})$/
const members = ['k', 'p', 'v', 's', 'u', 'e']
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function createTokens(
  keys: Pick<KeyStore, 'findSigning'>,
  prompts: Pick<PromptStore, 'find'>,
  vault: Pick<Vault, 'decrypt'>,
): Tokens {
  // As long as the store caches a key, so that a revoked one cannot be used from here.
  const secrets = new WeakMap<SigningAccess, KeyObject>()
  // A token that names an unknown key is compared with this one, which takes as long as a known key.
  const decoy = createSecretKey(randomBytes(64))

  function secretOf(access: SigningAccess): KeyObject {
    let secret = secrets.get(access)
    if (secret === undefined) {
      const { id: signingId, sealed } = access.signing
      secret = createSecretKey(vault.decrypt(sealed, { signingId, kind: 'signing_key' }), 'utf8')
      secrets.set(access, secret)
    }
    return secret
  }

  return {
    async verify(token, now) {
      if (typeof token !== 'string' || token.length > maxTokenLength) return null
      const [, signed = '', payload = '', signature = ''] = shape.exec(token) ?? []
      const claims = readClaims(payload)
      const access = claims === null ? null : await keys.findSigning(claims.signingId)
      const isSigned = hasSignature(access === null ? decoy : secretOf(access), signed, signature)
      if (claims === null || access === null || !isSigned) return null
      const { signingId: _, promptId, expiresAt, ...vote } = claims
      if (expiresAt <= now || expiresAt > now + maxTokenLifetimeMs + maxClockSkewMs) return null
      if (!isActive(access, now) || access.role !== 'signing') return null
      const prompt = await prompts.find(access.organisationId, promptId)
      return prompt !== null && matchesPromptGlob(access.prompts, prompt) ? { access, prompt, ...vote } : null
    },
  }
}

/** Compares the text of the signature rather than its bytes: base64url has several spellings of the same bytes. */
function hasSignature(secret: KeyObject, signed: string, signature: string): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(signed).digest('base64url'))
  const given = Buffer.from(signature.padEnd(expected.length))
  return timingSafeEqual(given, expected)
}

/** Null if the payload is not one that a client would sign. It is not verified yet. */
function readClaims(payload: string): Claims | null {
  try {
    const claims: unknown = JSON.parse(utf8.decode(Buffer.from(payload, 'base64url')))
    if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return null
    if (!Object.keys(claims).every((member) => members.includes(member))) return null
    const { k, p, v, s, u, e } = claims as Record<string, unknown>
    if (typeof k !== 'string' || !isSigningId(k) || typeof p !== 'string' || lookupId(p) !== p) return null
    if (typeof e !== 'number' || !Number.isSafeInteger(e)) return null
    return {
      signingId: k,
      promptId: p,
      version: v === undefined ? null : validVersion(v as string | number),
      subject: readLabel(s),
      voter: u === undefined ? null : readLabel(u),
      expiresAt: e * 1_000,
    }
  } catch {
    return null
  }
}

function readLabel(text: unknown): string {
  if (typeof text !== 'string' || text === '' || isLongerThan(text, maxLabelLength)) throw new TypeError('not a label')
  return validLabel('label', text)
}
