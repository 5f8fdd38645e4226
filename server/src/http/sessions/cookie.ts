import type { Instant } from '../../domain/time.ts'
import { isHttps } from '../security-headers.ts'

export const cookieName = 'promptledger_session'

/** Over https, browsers refuse a cookie with this prefix unless the very host that receives it has set it, over TLS. */
const hostPrefix = '__Host-'

export function cookieNameAt(publicUrl: string): string {
  return prefixed(cookieName, publicUrl)
}

/** The session token in a Cookie header, or null. */
export function sessionTokenIn(cookies: string | undefined, publicUrl: string): string | null {
  return cookieIn(cookies, cookieNameAt(publicUrl))
}

/**
 * The value of a cookie, or null. If two cookies have the name, another host of the same domain set one of them and we cannot
 * tell which, so neither is accepted.
 */
function cookieIn(cookies = '', ownName: string): string | null {
  const values = cookies.split(';').flatMap((cookie) => {
    const [name = '', value = ''] = cookie.trim().split('=', 2)
    return name === ownName ? [value] : []
  })
  const [token, ...others] = values
  return token === undefined || others.length > 0 ? null : token
}

export function sessionCookie(token: string, expiresAt: Instant, now: Instant, publicUrl: string): string {
  return cookie(token, Math.ceil((expiresAt - now) / 1_000), publicUrl)
}

/** A Set-Cookie value that removes the cookie from the browser. */
export function clearedSessionCookie(publicUrl: string): string {
  return cookie('', 0, publicUrl)
}

const pendingName = 'promptledger_sign_in'

/** What a browser keeps of a sign-in while it is at the provider, or null. */
export function pendingSignInIn(cookies: string | undefined, publicUrl: string): string | null {
  return cookieIn(cookies, prefixed(pendingName, publicUrl)) || null
}

/** Lax, because the browser comes back from another site. */
export function pendingSignInCookie(value: string, seconds: number, publicUrl: string): string {
  return cookie(value, seconds, publicUrl, pendingName, 'Lax')
}

function cookie(
  value: string,
  seconds: number,
  publicUrl: string,
  name = cookieName,
  sameSite: 'Strict' | 'Lax' = 'Strict',
): string {
  const secure = isHttps(publicUrl) ? '; Secure' : ''
  return `${prefixed(name, publicUrl)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}${secure}`
}

function prefixed(name: string, publicUrl: string): string {
  return isHttps(publicUrl) ? hostPrefix + name : name
}
