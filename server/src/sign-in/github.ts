import * as openid from 'openid-client'
import { normalEmail } from '../domain/access/email-address.ts'
import { type Account, FailedSignIn, SettingProblem } from '../domain/access/sign-in.ts'
import { sanitisedLine } from '../domain/text.ts'

/** GitHub has OAuth, but no OpenID Connect: its addresses are fixed. */
export function githubMetadata(origin: string): openid.ServerMetadata {
  return {
    issuer: `${origin}/login/oauth`,
    authorization_endpoint: `${origin}/login/oauth/authorize`,
    token_endpoint: `${origin}/login/oauth/access_token`,
  }
}

/** GitHub sends errors with the status 200. */
export function githubFetch(send: openid.CustomFetch): openid.CustomFetch {
  return async (url, options) => {
    const response = await send(url, options)
    if (!url.endsWith('/access_token') || response.status !== 200) return response
    const text = await response.text()
    const status = /"error"\s*:/.test(text) ? 400 : 200
    return new Response(text, { status, headers: response.headers })
  }
}

/** The person's primary address, if GitHub has verified it. */
export async function githubAccount(
  config: openid.Configuration,
  origin: string,
  accessToken: string,
): Promise<Account> {
  const api = origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`
  async function read(path: string): Promise<unknown> {
    const headers = new Headers({ accept: 'application/vnd.github+json' })
    const response = await openid.fetchProtectedResource(
      config,
      accessToken,
      new URL(api + path),
      'GET',
      undefined,
      headers,
    )
    if (response.status === 200) return response.json()
    throw new SettingProblem(
      'SIGN_IN_CLIENT_ID',
      `GitHub does not let the client of SIGN_IN_CLIENT_ID read ${path} (${response.status})`,
    )
  }

  const user = (await read('/user')) as { id?: unknown; login?: unknown; name?: unknown }
  const addresses = (await read('/user/emails')) as { email?: unknown; primary?: unknown; verified?: unknown }[]
  const primary = addresses.find((each) => each.primary === true && each.verified === true)
  const email = typeof primary?.email === 'string' ? normalEmail(primary.email) : null
  if (email === null || !Number.isSafeInteger(user.id)) {
    throw new FailedSignIn('unverified', 'The account has no primary address that GitHub has verified')
  }
  const name = sanitisedLine(String(user.name ?? user.login ?? ''), 200, email)
  return { email, name, subject: `${origin} ${user.id}`, groups: null }
}
