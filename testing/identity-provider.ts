/// <reference path="./oidc-provider.d.ts" />
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'
import { onTestEnd } from './cleanup.ts'

/** What the provider says about an account. */
export interface ProviderAccount {
  email?: string
  email_verified?: boolean
  name?: string
  groups?: string[]
}

export interface IdentityProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** By the ID of the account. A test may change them at any time. */
  accounts: Record<string, ProviderAccount>
  /** Whose button is on the sign-in page. */
  account: string
  /** Requests by path, without those of browsers. */
  requests: Record<string, number>
  /** How far the clock of the provider is ahead when it issues a token. */
  skewMs: number
  /** Signs with a new key from now on, and forgets the old one. */
  rotateKeys(): void
  /** The redirect URLs of the client. */
  redirectTo(...urls: string[]): void
}

/** A real OpenID Connect provider on 127.0.0.1. Its sign-in page has one button. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server = createServer((request, response) => handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Where a whole file shares it, no test ends it.
  server.unref()
  onTestEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let redirectUrls: string[] = []
  const self: IdentityProvider = {
    issuer,
    clientId: 'ledger',
    clientSecret: 'correct horse battery staple',
    accounts: { ada: { email: 'Ada@Example.com', email_verified: true, name: 'Ada Lovelace' } },
    account: 'ada',
    requests: {},
    skewMs: 0,
    rotateKeys: renew,
    redirectTo(...urls) {
      redirectUrls = urls
      renew()
    },
  }

  const records: Records = new Map()
  let provider: Provider
  let respond: ReturnType<Provider['callback']>
  function renew(): void {
    provider = new Provider(issuer, settings())
    // Otherwise it writes the reason of each rejected request to the terminal.
    provider.on('server_error', () => {})
    respond = provider.callback()
  }

  function settings(): Configuration {
    return {
      clients: [{ client_id: self.clientId, client_secret: self.clientSecret, redirect_uris: redirectUrls, ...signed }],
      jwks: { keys: [newKey()] },
      adapter: storedIn(records),
      // Instead of a page, and a note in the terminal.
      renderError: (context, out) => {
        context.body = out
      },
      cookies: { keys: ['of tests'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      ttl: {
        Session: 3_600,
        Interaction: 3_600,
        Grant: 3_600,
        AccessToken: 36_000,
        AuthorizationCode: 36_000,
        IdToken: 3_600,
      },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: async () => ({ sub: id, ...self.accounts[id] }),
      }),
      // Everyone agrees to everything.
      async loadExistingGrant({ oidc }) {
        const { client, session } = oidc
        const grant = new oidc.provider.Grant({
          clientId: client?.clientId as string,
          accountId: session?.accountId as string,
        })
        grant.addOIDCScope('openid email profile groups')
        await grant.save()
        return grant
      },
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?')
    if (!path.startsWith('/interaction/')) {
      if (/^(openid-client|promptledger)\//.test(request.headers['user-agent'] ?? ''))
        self.requests[path] = (self.requests[path] ?? 0) + 1
      if (path === '/token' && self.skewMs !== 0) skewClock(response)
      respond(request, response)
    } else if (request.method === 'POST') {
      await provider.interactionFinished(request, response, { login: { accountId: self.account } })
    } else {
      response.setHeader('content-type', 'text/html')
      response.end(
        `<!doctype html><title>Provider</title><form method="post"><button>Sign in as ${self.account}</button></form>`,
      )
    }
  }

  /** The service that asks waits meanwhile, so only the provider sees it. */
  function skewClock(response: ServerResponse): void {
    const { now } = Date
    Date.now = () => now() + self.skewMs
    response.once('finish', () => {
      Date.now = now
    })
  }

  renew()
  return self
}

type Records = Map<string, Record<string, unknown>>

const signed = { id_token_signed_response_alg: 'ES256' }

/** Keeps what the provider remembers, also when its keys change. */
function storedIn(records: Records) {
  return (model: string) => {
    const find = async (id: string) => records.get(`${model} ${id}`)
    return {
      find,
      findByUid: async (uid: string) => [...records.values()].find((record) => record.uid === uid),
      async upsert(id: string, payload: Record<string, unknown>) {
        records.set(`${model} ${id}`, payload)
      },
      async consume(id: string) {
        const record = await find(id)
        if (record !== undefined) record.consumed = Math.floor(Date.now() / 1_000)
      },
      async destroy(id: string) {
        records.delete(`${model} ${id}`)
      },
      async revokeByGrantId(grantId: string) {
        for (const [id, record] of records) if (record.grantId === grantId) records.delete(id)
      },
    }
  }
}

function newKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: crypto.randomUUID() }
}
