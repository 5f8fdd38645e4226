import * as openid from 'openid-client'
import { normalEmail } from '../domain/access/email-address.ts'
import { type Account, FailedSignIn, SettingProblem, type SignInRules } from '../domain/access/sign-in.ts'
import { sanitisedLine } from '../domain/text.ts'
import { type Clock, hour, type Instant } from '../domain/time.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { githubAccount, githubFetch, githubMetadata } from './github.ts'

export interface ProviderSettings {
  kind: 'oidc' | 'github'
  issuer: string
  clientId: string
  clientSecret: string
}

/** What the browser keeps between leaving for the provider and coming back. */
export interface PendingSignIn {
  state: string
  nonce: string
  verifier: string
}

export interface Provider {
  /** Where to send the browser. */
  begin(): Promise<{ url: string; pending: PendingSignIn }>
  /** The account of the person who came back with `query`. */
  finish(query: URLSearchParams, pending: PendingSignIn): Promise<Account>
  /** Asks the provider whether it knows us. Throws a `SettingProblem` if not. */
  check(): Promise<void>
}

interface ProviderContext {
  settings: ProviderSettings
  rules: Pick<SignInRules, 'groups'>
  redirectUrl: () => string
  clock: Clock
  /** Something that a person can sign in with, but not as the operator meant it. */
  onProblem: (problem: SettingProblem) => void
}

const metadataLifetimeMs = hour
// Strangers can start a sign-in: while the provider is down, they must not cause a request each.
const failureLifetimeMs = 30_000
const clockToleranceSeconds = 60
const maxGroups = 1_000

/** Signs people in through OpenID Connect, or GitHub's OAuth. */
export function createProvider({ settings, rules, redirectUrl, clock, onProblem }: ProviderContext): Provider {
  const { kind, issuer, clientId, clientSecret } = settings
  const allowHttp = issuer.startsWith('http://')
  const fetchBounded = kind === 'github' ? githubFetch(boundedFetch(allowHttp)) : boundedFetch(allowHttp)
  let known: { metadata: openid.ServerMetadata; until: Instant } | null = null
  let failed: { problem: SettingProblem; until: Instant } | null = null
  let pending: Promise<openid.ServerMetadata> | null = null

  async function discover(): Promise<openid.ServerMetadata> {
    try {
      if (kind === 'github') return githubMetadata(issuer)
      const found = await openid.discovery(new URL(issuer), clientId, undefined, undefined, {
        [openid.customFetch]: fetchBounded,
        execute: allowHttp ? [openid.allowInsecureRequests] : [],
      })
      return found.serverMetadata()
    } catch (error) {
      throw new SettingProblem(
        'SIGN_IN_ISSUER',
        `SIGN_IN_ISSUER is not the issuer of an OpenID Connect provider that this service can reach: ${causeOf(error)}`,
      )
    }
  }

  /** One request for all who sign in at the same time, and none while the last answer is fresh. */
  function metadata(): Promise<openid.ServerMetadata> {
    const now = clock()
    if (known !== null && now < known.until) return Promise.resolve(known.metadata)
    if (failed !== null && now < failed.until) return Promise.reject(failed.problem)
    pending ??= discover()
      .then(
        (metadata) => {
          known = { metadata, until: clock() + metadataLifetimeMs }
          return metadata
        },
        (problem: SettingProblem) => {
          failed = { problem, until: clock() + failureLifetimeMs }
          throw problem
        },
      )
      .finally(() => {
        pending = null
      })
    return pending
  }

  /** New for each sign-in, so that it fetches the provider's keys: a key that was rotated is never missed. */
  async function configure(): Promise<openid.Configuration> {
    const server = await metadata()
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const usesBasic = kind === 'oidc' && methods.includes('client_secret_basic')
    const authentication = usesBasic ? openid.ClientSecretBasic(clientSecret) : openid.ClientSecretPost(clientSecret)
    const config = new openid.Configuration(
      server,
      clientId,
      { [openid.clockTolerance]: clockToleranceSeconds },
      authentication,
    )
    config[openid.customFetch] = fetchBounded
    if (allowHttp) openid.allowInsecureRequests(config)
    if (kind === 'oidc') openid.enableNonRepudiationChecks(config)
    return config
  }

  /** Providers reject scopes that they do not know. */
  function scopes({ scopes_supported: supported = [] }: openid.ServerMetadata): string {
    if (kind === 'github') return 'read:user user:email'
    const groups = rules.groups !== null && supported.includes(rules.groups.claim) ? ` ${rules.groups.claim}` : ''
    return `openid email profile${groups}`
  }

  async function authorizationUrl(
    config: openid.Configuration,
    { state, nonce, verifier }: PendingSignIn,
  ): Promise<URL> {
    return openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUrl(),
      scope: scopes(config.serverMetadata()),
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(kind === 'oidc' && { nonce }),
    })
  }

  function newPending(): PendingSignIn {
    return {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    }
  }

  async function openidAccount(config: openid.Configuration, tokens: TokenResponse): Promise<Account> {
    const claims = tokens.claims()
    if (claims === undefined)
      throw new SettingProblem('SIGN_IN_ISSUER', 'The provider of SIGN_IN_ISSUER sent no ID token')
    const wanted = ['email', ...(rules.groups === null ? [] : [rules.groups.claim])]
    const hasAll = wanted.every((name) => claims[name] !== undefined)
    const isAsked = !hasAll && config.serverMetadata().userinfo_endpoint !== undefined
    const more = isAsked ? await userInfo(config, tokens.access_token, claims.sub) : {}
    const all: Record<string, unknown> = { ...claims, ...more }
    const email = typeof all.email === 'string' ? normalEmail(all.email) : null
    if (email === null) {
      throw new SettingProblem(
        'SIGN_IN_CLIENT_ID',
        'The provider sent no claim email. Let the client of SIGN_IN_CLIENT_ID have the scope email there',
      )
    }
    // Entra ID has no `email_verified`. Its `xms_edov` says that the owner of the domain vouches for the address.
    if (!isTrue(all.email_verified) && !isTrue(all.xms_edov)) {
      throw new FailedSignIn('unverified', 'The provider does not say that the address is verified')
    }
    return {
      email,
      name: sanitisedLine(String(all.name ?? all.preferred_username ?? ''), 200, email),
      subject: sanitisedLine(`${claims.iss} ${claims.sub}`, 1_000, ''),
      groups: groupsIn(all),
    }
  }

  async function userInfo(config: openid.Configuration, accessToken: string, sub: string): Promise<object> {
    try {
      return await openid.fetchUserInfo(config, accessToken, sub)
    } catch (error) {
      const message = `The provider of SIGN_IN_ISSUER did not say who signed in (userinfo_endpoint): ${causeOf(error)}`
      throw new SettingProblem('SIGN_IN_ISSUER', message)
    }
  }

  function groupsIn(claims: Record<string, unknown>): string[] | null {
    if (rules.groups === null) return null
    const { claim } = rules.groups
    const value = claims[claim]
    if (value === undefined) {
      const message = `The provider sent no claim ${claim}, which SIGN_IN_GROUPS names, so no group decides the role`
      onProblem(new SettingProblem('SIGN_IN_GROUPS', message))
    }
    return [value ?? []].flat().slice(0, maxGroups).map(String)
  }

  return {
    async begin() {
      const config = await configure()
      const pending = newPending()
      return { url: (await authorizationUrl(config, pending)).href, pending }
    },

    async finish(query, { state, nonce, verifier }) {
      const config = await configure()
      const current = new URL(redirectUrl())
      current.search = query.toString()
      try {
        const tokens = await openid.authorizationCodeGrant(config, current, {
          expectedState: state,
          pkceCodeVerifier: verifier,
          ...(kind === 'oidc' && { expectedNonce: nonce, idTokenExpected: true }),
        })
        if (kind === 'github') return await githubAccount(config, issuer, tokens.access_token)
        return await openidAccount(config, tokens)
      } catch (error) {
        throw explain(error)
      }
    },

    async check() {
      failed = null
      const config = await configure()
      const url = await authorizationUrl(config, newPending())
      const page = await fetchBounded(url.href, {
        method: 'GET',
        headers: {},
        body: undefined,
        redirect: 'manual',
      }).catch(() => null)
      if (page !== null && page.status >= 400) {
        throw new SettingProblem(
          'SIGN_IN_CLIENT_ID',
          `The provider rejects SIGN_IN_CLIENT_ID, or ${redirectUrl()}, which follows from PUBLIC_URL, is not one of the redirect ` +
            `URLs of that client (${page.status})`,
        )
      }
      // The provider checks the secret before the code, which no provider has issued.
      const code = { code: 'check', redirect_uri: redirectUrl(), code_verifier: openid.randomPKCECodeVerifier() }
      await openid.genericGrantRequest(config, 'authorization_code', code).catch((error) => {
        const reason = explain(error)
        if (reason instanceof SettingProblem) throw reason
      })
    },
  }

  /** Which setting is wrong, if one is. */
  function explain(error: unknown): SettingProblem | FailedSignIn {
    if (error instanceof SettingProblem || error instanceof FailedSignIn) return error
    const { code, cause, error: reason = '', status } = error as OpenidError
    if (credentialErrors.includes(reason) || (status === 401 && code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE')) {
      const message = `The provider rejects SIGN_IN_CLIENT_SECRET for the client of SIGN_IN_CLIENT_ID (${reason || status})`
      return new SettingProblem('SIGN_IN_CLIENT_SECRET', message)
    }
    if (reason === 'unauthorized_client' || reason === 'invalid_scope') {
      const message = `The provider does not let the client of SIGN_IN_CLIENT_ID sign people in (${reason})`
      return new SettingProblem('SIGN_IN_CLIENT_ID', message)
    }
    if (reason === 'redirect_uri_mismatch' || reason === 'invalid_redirect_uri') {
      const message = `${redirectUrl()}, which follows from PUBLIC_URL, is not one of the redirect URLs of the client at the provider`
      return new SettingProblem('PUBLIC_URL', message)
    }
    if (reason === 'access_denied') return new FailedSignIn('denied', 'The provider did not let the person in')
    const claim = claimIn(cause)
    if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') {
      const message = `The clocks of this server and of the provider differ by more than ${clockToleranceSeconds} s`
      return new SettingProblem('clock', message)
    }
    if (code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' && claim !== 'nonce') {
      const setting = claim === 'aud' || claim === 'azp' ? 'SIGN_IN_CLIENT_ID' : 'SIGN_IN_ISSUER'
      return new SettingProblem(
        setting,
        `The ID token of the provider is not for ${setting}: its claim ${claim} differs`,
      )
    }
    // A code that was used before, a state or nonce of another sign-in, or a code that a stranger made up.
    const isOfSignIn = reason !== '' || claim === 'nonce' || code === 'OAUTH_INVALID_RESPONSE'
    if (isOfSignIn && !isAboutKeys(cause)) return new FailedSignIn('state', causeOf(error))
    return new SettingProblem('SIGN_IN_ISSUER', `The provider of SIGN_IN_ISSUER could not be asked: ${causeOf(error)}`)
  }
}

type TokenResponse = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>

/** What errors of openid-client may have. */
interface OpenidError extends Error {
  code?: string
  /** The error code of OAuth, in a response of the provider. */
  error?: string
  status?: number
}

// The second is GitHub's.
const credentialErrors = ['invalid_client', 'incorrect_client_credentials']

function isTrue(claim: unknown): boolean {
  return claim === true || claim === 1 || claim === 'true' || claim === '1'
}

function claimIn(cause: unknown): string | null {
  const inner = (cause as { cause?: { claim?: unknown } } | undefined)?.cause
  return typeof inner?.claim === 'string' ? inner.claim : null
}

function isAboutKeys(cause: unknown): boolean {
  return /signature|key/i.test((cause as Error | undefined)?.message ?? '')
}

/** The innermost reason, on one line. Providers write parts of it. */
function causeOf(error: unknown): string {
  let reason = error as Error
  while (reason.cause instanceof Error) reason = reason.cause
  return sanitisedLine(reason.message, 300, 'unknown')
}
