import type { Instant } from '../../domain/time.ts'

export const cookieName = 'promptledger_session'

/**
 * The session token in a Cookie header, or null. If two cookies have the name, another host of the same domain set one of
 * them and we cannot tell which, so neither is accepted.
 */
export function sessionTokenIn(cookies = ''): string | null {
  const values = cookies.split(';').flatMap((cookie) => {
    const [name = '', value = ''] = cookie.trim().split('=', 2)
    return name === cookieName ? [value] : []
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
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`
}
