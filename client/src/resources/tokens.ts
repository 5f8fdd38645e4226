export type Tokens = ReturnType<typeof tokens>

/** What a page may vote on with the token. */
export interface NewToken {
  /** The ID of the prompt. Its name cannot be used, because signing sends no request. */
  prompt: string
  /** The version that produced the output: a commit SHA, or the ID of a history entry. */
  version?: string | number | undefined
  /** The subject of the vote, such as the ID of the output: 1 to 255 characters. */
  subject: string
  /** Who votes: 1 to 255 characters. The page can read it in the token, and the service stores only a keyed hash. */
  voter?: string | undefined
  /** Seconds until the token expires, at most 604,800 (7 days). Defaults to 3,600. */
  expiresIn?: number | undefined
}

const signingKeyShape = /^pls_([0-9A-Za-z]{16})_[0-9A-Za-z]{49}$/
const promptId = /^pmt_[0-9A-Za-z]{24}$/
const commitSha = /^[0-9a-f]{7,40}$/i
const unusable = /\p{Cc}|\p{Surrogate}/u
const defaultLifetimeSeconds = 3_600
const maxLifetimeSeconds = 604_800
const maxLabelLength = 255
const maxTokenLength = 1_024

/** Signs tokens that pages vote with. Needs a key with the role `signing`, and sends no request. */
export function tokens(signingKey: string | undefined) {
  return {
    /** Signs a token that lets its holder vote on one subject until it expires. */
    async sign(token: NewToken): Promise<string> {
      if (!signingKey) {
        throw new TypeError('No signing key: set PROMPTLEDGER_SIGNING_KEY to one, or pass signingKey')
      }
      return signToken(signingKey, token, Date.now())
    },
  }
}

export async function signToken(signingKey: string, token: NewToken, now: number): Promise<string> {
  const [, signingId] = signingKeyShape.exec(signingKey) ?? []
  if (signingId === undefined) {
    throw new TypeError('The signing key is malformed: it starts with pls_ and has 70 characters')
  }
  const { prompt, version, subject, voter, expiresIn = defaultLifetimeSeconds } = token
  if (!promptId.test(prompt)) {
    throw new TypeError('prompt must be the ID of a prompt, which starts with pmt_: signing cannot look up a name')
  }
  if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > maxLifetimeSeconds) {
    throw new RangeError(`expiresIn must be a whole number of seconds from 1 to ${maxLifetimeSeconds}`)
  }
  if (globalThis.crypto?.subtle === undefined) {
    throw new TypeError('Signing needs Web Crypto: Node 20 or newer, or Node 18 with --experimental-global-webcrypto')
  }
  // The order is part of the format: every client signs the same bytes.
  const payload = JSON.stringify({
    k: signingId,
    p: prompt,
    v: version === undefined ? undefined : validVersion(version),
    s: validLabel('subject', subject),
    u: voter === undefined ? undefined : validLabel('voter', voter),
    e: Math.floor(now / 1_000) + expiresIn,
  })
  const encoder = new TextEncoder()
  const signed = `plt_${base64url(encoder.encode(payload))}`
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(signingKey), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(signed))
  const text = `${signed}.${base64url(new Uint8Array(signature))}`
  if (text.length > maxTokenLength) {
    throw new RangeError(`The token would have more than ${maxTokenLength} characters. Shorten subject or voter`)
  }
  return text
}

function validVersion(version: string | number): string | number {
  const isCommit = typeof version === 'string' && commitSha.test(version)
  if (isCommit || (Number.isSafeInteger(version) && Number(version) > 0)) return version
  throw new TypeError('version must be a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history entry')
}

function validLabel(name: string, text: string): string {
  if (typeof text === 'string' && text !== '' && [...text].length <= maxLabelLength && !unusable.test(text)) return text
  throw new TypeError(`${name} must have 1 to ${maxLabelLength} characters, without control characters`)
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
