import { createHash } from 'node:crypto'
import type { Instant } from '../../domain/time.ts'
import { isHttps } from '../security-headers.ts'

/** Reads and writes the cookies of this installation. */
export interface Cookies {
  /** The session token in a Cookie header, or null. */
  sessionTokenIn(header: string | undefined): string | null
  /** The Set-Cookie value of a new session. */
  session(token: string, expiresAt: Instant, now: Instant): string
  /** A Set-Cookie value that removes the session from the browser. */
  clearedSession(): string
  /** What a browser keeps of a sign-in while it is at the provider, or null. */
  pendingSignInIn(header: string | undefined): string | null
  pendingSignIn(value: string, seconds: number): string
}

/** Over https, browsers refuse a cookie with this prefix unless the very host that receives it has set it, over TLS. */
const hostPrefix = '__Host-'

const names = { session: 'promptledger_session', pendingSignIn: 'promptledger_sign_in' } as const

/** The name of a cookie, for the documentation: `installation` stands for the part that differs. */
export function cookieNameOf(kind: keyof typeof names, installation: string, publicUrl: string): string {
  return `${isHttps(publicUrl) ? hostPrefix : ''}${names[kind]}_${installation}`
}

/**
 * Browsers send cookies to every port of a host, so a name that installations share would let the sign-in at one end the session at
 * the other. The time at which the database was created tells them apart, is the same in all processes that use it, and stays when
 * the secret key is rotated.
 */
export function createCookies(databaseCreatedAt: Instant, publicUrl: () => string): Cookies {
  const installation = createHash('sha256').update(`promptledger ${databaseCreatedAt}`).digest('hex').slice(0, 8)
  const nameOf = (kind: keyof typeof names) => cookieNameOf(kind, installation, publicUrl())

  function cookie(kind: keyof typeof names, value: string, seconds: number, sameSite: 'Strict' | 'Lax'): string {
    const secure = isHttps(publicUrl()) ? '; Secure' : ''
    return `${nameOf(kind)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}${secure}`
  }

  return {
    sessionTokenIn: (header) => valueIn(header, nameOf('session')),
    session: (token, expiresAt, now) => cookie('session', token, Math.ceil((expiresAt - now) / 1_000), 'Strict'),
    clearedSession: () => cookie('session', '', 0, 'Strict'),
    pendingSignInIn: (header) => valueIn(header, nameOf('pendingSignIn')) || null,
    // Lax, because the browser comes back from another site.
    pendingSignIn: (value, seconds) => cookie('pendingSignIn', value, seconds, 'Lax'),
  }
}

/**
 * The value of a cookie, or null. If two cookies have the name, another host of the same domain set one of them and we cannot
 * tell which, so neither is accepted.
 */
function valueIn(header = '', ownName: string): string | null {
  const values = header.split(';').flatMap((cookie) => {
    const [name = '', value = ''] = cookie.trim().split('=', 2)
    return name === ownName ? [value] : []
  })
  const [token, ...others] = values
  return token === undefined || others.length > 0 ? null : token
}
