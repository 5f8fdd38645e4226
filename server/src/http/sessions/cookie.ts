import type { Instant } from '../../domain/time.ts'
import { isHttps } from '../security-headers.ts'

export const cookieName = 'promptledger_session'

/** Over https, browsers refuse a cookie with this prefix unless the very host that receives it has set it, over TLS. */
const hostPrefix = '__Host-'

export function cookieNameAt(publicUrl: string): string {
  return isHttps(publicUrl) ? hostPrefix + cookieName : cookieName
}

/**
 * The session token in a Cookie header, or null. If two cookies have the name, another host of the same domain set one of
 * them and we cannot tell which, so neither is accepted.
 */
export function sessionTokenIn(cookies = '', publicUrl: string): string | null {
  const ownName = cookieNameAt(publicUrl)
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

function cookie(value: string, seconds: number, publicUrl: string): string {
  const secure = isHttps(publicUrl) ? '; Secure' : ''
  return `${cookieNameAt(publicUrl)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`
}
