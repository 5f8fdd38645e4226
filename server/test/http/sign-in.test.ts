import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, test } from 'node:test'
import type { SessionBody } from '../../../contract/sessions.ts'
import { assertError } from '../../../testing/assertions.ts'
import { CookieBrowser } from '../../../testing/cookie-browser.ts'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type IdentityProvider, startIdentityProvider } from '../../../testing/identity-provider.ts'
import { startMailServer } from '../../../testing/mail-server.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { createInvitation } from '../../src/domain/access/invitation.ts'
import type { Person } from '../../src/domain/access/person.ts'
import type { SignInRules } from '../../src/domain/access/sign-in.ts'
import { returnPath } from '../../src/http/sign-in/routes.ts'
import { openSendMail } from '../../src/service/alerts.ts'
import type { ProviderSettings } from '../../src/sign-in/provider.ts'
import { cookieWith } from './session-requests.ts'

const minute = 60_000
const day = 24 * 60 * minute

interface Options {
  rules?: Partial<SignInRules>
  provider?: Partial<ProviderSettings>
}

interface SessionAnswer {
  data: SessionBody & { person: NonNullable<SessionBody['person']> }
  error: { code: string; reason?: string }
}

async function urlIn(response: Response): Promise<string> {
  return ((await response.json()) as { data: { url: string } }).data.url
}

/** The service on a socket, with people who sign in through `idp`. The first organisation is that of `tenant`. */
async function openService(idp: IdentityProvider, { rules, provider }: Options = {}) {
  const service = new TestService()
  const { issuer, clientId, clientSecret } = idp
  service.signIn = {
    ...service.signIn,
    rules: { domains: ['example.com'], defaultRole: 'member', groups: null, ...rules },
    provider: { kind: 'oidc', issuer, clientId, clientSecret, ...provider },
    allowsEmail: false,
  }
  await service.open(sqlite)
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  service.publicUrl = url
  idp.redirectTo(`${url}/sign-in/callback`)
  const tenant = await service.tenant('free', 'admin')

  /** Starts to sign in, and returns where the browser is sent. */
  async function begin(browser: CookieBrowser, body: object = {}): Promise<string> {
    const response = await browser.post(`${url}/api/v1/sign-in`, body)
    assert.equal(response.status, 200, await response.clone().text())
    return urlIn(response)
  }

  /** Goes to the provider and back, to the callback, which is not opened yet. */
  async function goToProvider(browser: CookieBrowser, body: object = {}): Promise<string> {
    return browser.follow(await begin(browser, body), `${url}/sign-in/callback`)
  }

  /** Where the callback leads. */
  async function comeBack(browser: CookieBrowser, callback: string): Promise<string> {
    const response = await browser.send(callback)
    assert.equal(response.status, 303, await response.clone().text())
    return response.headers.get('location') ?? ''
  }

  async function signIn(browser: CookieBrowser, body: object = {}): Promise<string> {
    return comeBack(browser, await goToProvider(browser, body))
  }

  const session = async (browser: CookieBrowser) =>
    (await (await browser.send(`${url}/api/v1/session`)).json()) as SessionAnswer
  const people = () => service.store.people.list(tenant.organisation.id)
  const check = async (of: Tenant = tenant) =>
    (await service.app.inject({ url: '/api/v1/sign-in/check', headers: of.headers })).json().data
  const logged = (text: string) => service.log.some((line) => line.includes(text))
  return { service, url, tenant, begin, goToProvider, comeBack, signIn, session, people, check, logged }
}

describe('Signing in through a provider', () => {
  let idp: IdentityProvider
  before(async () => {
    idp = await startIdentityProvider()
  })

  test('a person signs in, joins with the default role, returns to the page they asked for, and signs out', async () => {
    const { url, tenant, service, signIn, session, people } = await openService(idp)
    const browser = new CookieBrowser()
    assert.equal(await signIn(browser, { return_to: '/prompts?q=a' }), '/prompts?q=a')
    const { data } = await session(browser)
    assert.equal(data.organisation.id, tenant.organisation.id)
    assert.deepEqual(
      [data.person.email, data.person.name, data.person.role, data.key.role],
      ['ada@example.com', 'Ada Lovelace', 'member', 'member'],
    )
    assert.equal(data.expires_at, new Date(service.now + day).toISOString())
    const [person] = await people()
    assert.equal(person?.subject, `${idp.issuer} ada`)
    // Again, with the session that the provider remembers: the same person.
    await signIn(new CookieBrowser())
    assert.equal((await people()).length, 1)
    await browser.send(`${url}/api/v1/session`, { method: 'DELETE' })
    assert.equal((await session(browser)).error.code, 'unauthorized')
  })

  test('a state is accepted once, from the browser that started, within ten minutes', async () => {
    const { service, url, goToProvider, comeBack, session } = await openService(idp)
    const [browser, stranger, other] = [new CookieBrowser(), new CookieBrowser(), new CookieBrowser()]
    const callback = await goToProvider(browser)
    // Login CSRF: the attacker's callback in the browser of someone else, who is at the provider or not.
    assert.equal(await comeBack(stranger, callback), '/sign-in?failed=state')
    await goToProvider(other)
    assert.equal(await comeBack(other, callback), '/sign-in?failed=state')
    const kept = new Map(browser.cookies.get(new URL(url).host))
    assert.equal(await comeBack(browser, callback), '/')
    assert.equal(await comeBack(browser, callback), '/sign-in?failed=state')
    // Even with the cookie, which a copy of the browser's profile has: the provider accepts the code once.
    const copy = new CookieBrowser()
    copy.cookies.set(new URL(url).host, kept)
    assert.equal(await comeBack(copy, callback), '/sign-in?failed=state')
    const late = await goToProvider(other)
    service.now += 10 * minute + 1
    assert.equal(await comeBack(other, late), '/sign-in?failed=expired')
    for (const each of [stranger, other, copy]) assert.equal((await session(each)).error.code, 'unauthorized')
  })

  test('an ID token with another nonce is rejected', async () => {
    const { url, begin, comeBack } = await openService(idp)
    const browser = new CookieBrowser()
    const authorization = new URL(await begin(browser))
    authorization.searchParams.set('nonce', 'of-another-sign-in')
    const callback = await browser.follow(authorization.href, `${url}/sign-in/callback`)
    assert.equal(await comeBack(browser, callback), '/sign-in?failed=state')
  })

  test('a cookie that this service did not seal is rejected before the provider is asked', async () => {
    const { url, goToProvider, comeBack } = await openService(idp)
    const browser = new CookieBrowser()
    const callback = await goToProvider(browser)
    const cookies = browser.cookies.get(new URL(url).host) as Map<string, string>
    const [name, value] = [...cookies][0] as [string, string]
    const tokenRequests = idp.requests['/token'] ?? 0
    for (const forged of ['x', value.slice(0, -8), Buffer.from('{"state":"a"}').toString('base64url')]) {
      cookies.set(name, forged)
      assert.equal(await comeBack(browser, callback), '/sign-in?failed=state')
    }
    assert.equal(idp.requests['/token'] ?? 0, tokenRequests)
  })

  test('people still sign in right after the provider rotated its keys', async () => {
    const { signIn } = await openService(idp)
    assert.equal(await signIn(new CookieBrowser()), '/')
    idp.rotateKeys()
    assert.equal(await signIn(new CookieBrowser()), '/')
  })

  test('clocks may differ by up to a minute, and the log names the clock beyond that', async (t) => {
    const { signIn, check, logged } = await openService(idp)
    t.after(() => {
      idp.skewMs = 0
    })
    const tokenLifetimeMs = 60 * minute
    idp.skewMs = -tokenLifetimeMs - 30_000
    assert.equal(await signIn(new CookieBrowser()), '/')
    idp.skewMs = -tokenLifetimeMs - 2 * minute
    assert.equal(await signIn(new CookieBrowser()), '/sign-in?failed=setup')
    assert.ok(logged('The clocks of this server and of the provider differ'))
    assert.equal((await check()).problems[0].setting, 'clock')
  })

  test('a disabled person is signed out at once and cannot sign in', async () => {
    const { service, signIn, session, people } = await openService(idp)
    const browser = new CookieBrowser()
    await signIn(browser)
    await service.store.people.disable((await people())[0] as Person, service.now, operator)
    assert.equal((await session(browser)).error.reason, 'disabled')
    assert.equal(await signIn(browser), '/sign-in?failed=disabled')
  })

  test('an address of another domain, without verification or of a second account is refused', async (t) => {
    const { signIn, people } = await openService(idp)
    t.after(() => {
      idp.account = 'ada'
    })
    await signIn(new CookieBrowser())
    const refusals = {
      domain: { email: 'eve@elsewhere.example', email_verified: true },
      unverified: { email: 'eve@example.com', email_verified: false },
      // The provider gave the address of someone who left to someone else.
      other_account: { email: 'ada@example.com', email_verified: true },
    }
    for (const [reason, account] of Object.entries(refusals)) {
      idp.account = `eve-${reason}`
      idp.accounts[idp.account] = account
      assert.equal(await signIn(new CookieBrowser()), `/sign-in?failed=${reason}`)
    }
    assert.equal((await people()).length, 1)
  })

  test('groups decide the role with each sign-in, unless an admin did, and leaving them ends access', async () => {
    const groups = { claim: 'groups', roles: { staff: 'viewer', leads: 'admin' } } as const
    const { service, signIn, people } = await openService(idp, { rules: { defaultRole: null, groups } })
    const asMember = async (...names: string[]) => {
      idp.accounts.ada = { ...idp.accounts.ada, groups: names }
      const path = await signIn(new CookieBrowser())
      const [person] = await people()
      return path === '/' ? person?.role : path
    }
    assert.equal(await asMember('others'), '/sign-in?failed=unknown')
    assert.equal(await asMember('staff', 'leads'), 'admin')
    assert.equal(await asMember('staff'), 'viewer')
    const [person] = (await people()) as [Person]
    await service.store.people.setRole(person, 'member', 'admin', service.now, operator)
    assert.equal(await asMember('leads'), 'member')
    await service.store.people.setRole(person, 'viewer', 'group', service.now, operator)
    assert.equal(await asMember('others'), '/sign-in?failed=disabled')
  })

  test('an invitation lets one person join another organisation with its role', async () => {
    const { service, signIn, session } = await openService(idp, { rules: { defaultRole: null } })
    const other = await service.tenant('free', 'admin')
    const invite = (email: string | null) =>
      createInvitation(
        service.store.invitations,
        { organisationId: other.organisation.id, role: 'viewer', email },
        service.now,
        operator,
      )
    assert.equal(await signIn(new CookieBrowser()), '/sign-in?failed=unknown')
    const forEve = await invite('eve@example.com')
    assert.equal(await signIn(new CookieBrowser(), { invitation: forEve.token }), '/sign-in?failed=invitation')
    const { token, invitation } = await invite(null)
    const browser = new CookieBrowser()
    assert.equal(await signIn(browser, { invitation: token }), '/')
    const { data } = await session(browser)
    assert.deepEqual([data.organisation.id, data.person.role], [other.organisation.id, 'viewer'])
    assert.equal(await service.store.invitations.accept(invitation, service.now), false)
    // Someone else with the same link is late.
    idp.account = 'bob'
    idp.accounts.bob = { email: 'bob@example.com', email_verified: true }
    assert.equal(await signIn(new CookieBrowser(), { invitation: token }), '/sign-in?failed=invitation')
    idp.account = 'ada'
    // An invitation decides also where the settings would.
    const settled = await openService(idp)
    const first = { organisationId: settled.tenant.organisation.id, role: 'admin', email: null } as const
    const { store, now } = settled.service
    const welcome = await createInvitation(store.invitations, first, now, operator)
    assert.equal(await settled.signIn(new CookieBrowser(), { invitation: welcome.token }), '/')
    assert.deepEqual(
      (await settled.people()).map(({ role, roleFrom }) => [role, roleFrom]),
      [['admin', 'invitation']],
    )
  })

  test('strangers cannot make the service ask the provider without bound', async () => {
    const { service, url } = await openService(idp, { provider: { issuer: `${idp.issuer}/nowhere` } })
    const before = { ...idp.requests }
    const discovery = '/nowhere/.well-known/openid-configuration'
    const browser = new CookieBrowser()
    for (let i = 0; i < 5; i++) assert.equal((await browser.post(`${url}/api/v1/sign-in`, {})).status, 409)
    assert.equal(idp.requests[discovery], 1, 'a failure is remembered')
    service.now += 31_000
    await browser.post(`${url}/api/v1/sign-in`, {})
    assert.equal(idp.requests[discovery], 2)

    const working = await openService(idp)
    const discoveries = idp.requests['/.well-known/openid-configuration'] ?? 0
    const codes: number[] = []
    for (let i = 0; i < 32; i++) {
      const stranger = new CookieBrowser()
      const started = await stranger.post(`${working.url}/api/v1/sign-in`, {})
      codes.push(started.status)
      if (started.status !== 200) continue
      const state = new URL(await urlIn(started)).searchParams.get('state')
      await stranger.send(
        `${working.url}/sign-in/callback?code=guess&state=${state}&iss=${encodeURIComponent(idp.issuer)}`,
      )
    }
    assert.equal(idp.requests['/.well-known/openid-configuration'], discoveries + 1)
    assert.ok((idp.requests['/token'] ?? 0) - (before['/token'] ?? 0) <= 30)
    assert.ok(codes.includes(429))
    // The key of the first start still signs in.
    const { app } = working.service
    assert.equal(
      (await app.inject({ method: 'POST', url: '/api/v1/session', headers: working.tenant.headers })).statusCode,
      201,
    )
  })

  test('only pages of this service can start a sign-in', async () => {
    const { url } = await openService(idp)
    const browser = new CookieBrowser()
    for (const origin of ['https://evil.example', 'null']) {
      const response = await browser.post(`${url}/api/v1/sign-in`, {}, { origin })
      assert.equal(response.status, 403)
      assert.deepEqual(response.headers.getSetCookie(), [])
    }
  })

  test('every sign-in gets a session of its own, whatever cookie was planted before', async () => {
    const { service, url, signIn, session } = await openService(idp)
    const browser = new CookieBrowser()
    const [name = '', planted = ''] = cookieWith(service, 'A'.repeat(43)).split('=')
    browser.cookies.set(new URL(url).host, new Map([[name, planted]]))
    await signIn(browser)
    const mine = browser.cookies.get(new URL(url).host)?.get(name)
    assert.ok(mine !== undefined && mine !== planted)
    assert.equal((await session(browser)).data.person.name, 'Ada Lovelace')
  })

  describe('A setting that is wrong is named in the log and to admins, not to strangers, and keys still sign in', () => {
    async function assertNamed(setting: string, options: Options, prepare: (opened: Opened) => Promise<void>) {
      const opened = await openService(idp, options)
      await prepare(opened)
      const { problems } = await opened.check()
      assert.ok(
        problems.some((problem: { setting: string; message: string }) => problem.setting === setting),
        JSON.stringify(problems),
      )
      assert.ok(opened.logged(`"setting":"${setting}"`), opened.service.log.join(''))
      const told = JSON.stringify(problems) + opened.service.log.join('')
      assert.ok(!told.includes(idp.clientSecret) && !told.includes('wrong secret'))
      const { app } = opened.service
      const headers = opened.tenant.headers
      assert.equal((await app.inject({ method: 'POST', url: '/api/v1/session', headers })).statusCode, 201)
    }
    type Opened = Awaited<ReturnType<typeof openService>>
    const failsToBegin = async ({ url }: Opened) => {
      const response = await new CookieBrowser().post(`${url}/api/v1/sign-in`, {})
      const body = await response.json()
      assert.equal(response.status, 409)
      assert.ok(!JSON.stringify(body).includes('SIGN_IN'), JSON.stringify(body))
    }
    const failsToFinish = async ({ signIn }: Opened) =>
      assert.equal(await signIn(new CookieBrowser()), '/sign-in?failed=setup')

    test('an issuer that is no provider, or another one', async () => {
      await assertNamed('SIGN_IN_ISSUER', { provider: { issuer: 'http://127.0.0.1:1' } }, failsToBegin)
      const alias = idp.issuer.replace('127.0.0.1', 'localhost')
      await assertNamed('SIGN_IN_ISSUER', { provider: { issuer: alias } }, failsToBegin)
    })

    test('a wrong client secret', async () => {
      await assertNamed('SIGN_IN_CLIENT_SECRET', { provider: { clientSecret: 'wrong secret' } }, failsToFinish)
    })

    test('a client that the provider does not know, or a redirect URL that it does not accept', async () => {
      const opened = await openService(idp, { provider: { clientId: 'unknown' } })
      const problem = (await opened.check()).problems[0]
      assert.equal(problem.setting, 'SIGN_IN_CLIENT_ID')
      const elsewhere = await openService(idp)
      idp.redirectTo('https://elsewhere.example/sign-in/callback')
      const [found] = (await elsewhere.check()).problems
      assert.match(found.message, /PUBLIC_URL, is not one of the redirect URLs/)
      assert.match(found.message, new RegExp(elsewhere.url))
    })

    test('a PUBLIC_URL at which browsers do not reach the service', async () => {
      await assertNamed('PUBLIC_URL', {}, async (opened) => {
        opened.service.publicUrl = opened.url.replace('127.0.0.1', 'localhost')
        const headers = { origin: opened.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
        const request = { method: 'POST', url: '/api/v1/sign-in', headers, payload: {} } as const
        assertError(await opened.service.app.inject(request), 409, 'conflict')
      })
    })

    test('a claim that the provider does not send', async (t) => {
      idp.accounts.silent = { email_verified: true }
      idp.account = 'silent'
      t.after(() => {
        idp.account = 'ada'
      })
      await assertNamed('SIGN_IN_CLIENT_ID', {}, failsToFinish)
      idp.account = 'ada'
      const groups = { claim: 'teams', roles: { staff: 'viewer' } } as const
      const opened = await openService(idp, { rules: { groups } })
      // Not a reason to reject: the default role applies.
      assert.equal(await opened.signIn(new CookieBrowser()), '/')
      assert.ok(opened.logged('no claim teams, which SIGN_IN_GROUPS names'))
      assert.equal((await opened.check()).problems[0].setting, 'SIGN_IN_GROUPS')
    })
  })
})

test('a return path never leads to another site', () => {
  const own = 'https://ledger.example'
  const paths = {
    '/prompts/pmt_1?range=month': '/prompts/pmt_1?range=month',
    '//evil.example': '/',
    '/\\evil.example': '/',
    '/%5cevil.example/..//evil.example': '/',
    'https://evil.example': '/',
    '/a/../..//evil.example': '/',
    'javascript:alert(1)': '/',
    '/\t/evil.example': '/',
    '/api/v1/keys': '/',
    '/sign-in?failed=state': '/',
    '': '/',
  }
  for (const [given, expected] of Object.entries(paths)) assert.equal(returnPath(given, own), expected, given)
})

describe('Signing in by email', () => {
  async function openMailService(rules: Partial<SignInRules> = {}) {
    const service = new TestService()
    const mail = await startMailServer()
    const from = { name: 'Ledger', address: 'ledger@example.com' }
    service.signIn = {
      ...service.signIn,
      rules: { ...service.signIn.rules, ...rules },
      sendMail: openSendMail({ mail: { url: mail.url, from } }),
    }
    await service.open(sqlite)
    const tenant = await service.tenant('free', 'admin')
    const headers = { 'sec-fetch-site': 'same-origin' }
    const post = (path: string, payload: object, more = {}) =>
      service.app.inject({ method: 'POST', url: `/api/v1/sign-in/${path}`, headers: { ...headers, ...more }, payload })
    const invite = (email: string | null) =>
      createInvitation(
        service.store.invitations,
        { organisationId: tenant.organisation.id, role: 'viewer', email },
        service.now,
        operator,
      )
    /** The token of the link in the newest message. */
    async function receivedLink(count: number): Promise<string> {
      await eventually(() => assert.equal(mail.received.length, count))
      const { source } = mail.received.at(-1) as { source: string }
      const text = source.replaceAll('=\r\n', '').replaceAll('=3D', '=')
      const [link = ''] = /pll_[\w-]+/.exec(text) ?? []
      return link
    }
    return { service, tenant, mail, post, invite, receivedLink }
  }

  test('an invited person signs in by a link, once, within a quarter of an hour', async () => {
    const { service, tenant, post, invite, receivedLink } = await openMailService()
    const { token: invitation } = await invite(null)
    assert.equal((await post('email', { email: ' Ada@Example.com ', invitation })).statusCode, 202)
    const token = await receivedLink(1)
    const response = await post('link', { token })
    assert.equal(response.statusCode, 201, response.body)
    const { data } = response.json()
    assert.deepEqual(
      [data.person.email, data.person.role, data.organisation.id],
      ['ada@example.com', 'viewer', tenant.organisation.id],
    )
    assertError(await post('link', { token }), 409, 'conflict')
    await post('email', { email: 'ada@example.com' })
    const late = await receivedLink(2)
    service.now += 15 * minute + 1
    assertError(await post('link', { token: late }), 409, 'conflict')
    await post('email', { email: 'ada@example.com' })
    const next = await receivedLink(3)
    assertError(await post('link', { token: `${next.slice(0, -9)}AAAAAAAAA` }), 409, 'conflict')
    const both = await Promise.all([post('link', { token: next }), post('link', { token: next })])
    assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [201, 409])
  })

  test('the response does not tell who has an account, and only people who may sign in get a message', async () => {
    const { service, tenant, mail, post } = await openMailService({ domains: ['example.com'] })
    const person = { email: 'ada@example.com', name: 'Ada', subject: null, role: 'member', roleFrom: 'admin' } as const
    await service.store.people.add({ organisationId: tenant.organisation.id, ...person, createdAt: service.now })
    const answers = []
    // Invited by a key that is revoked since.
    const [key] = await service.store.keys.list(tenant.organisation.id)
    const invited = { organisationId: tenant.organisation.id, role: 'viewer', email: null } as const
    const by = { keyId: key?.id as number }
    const { token: invitation } = await createInvitation(service.store.invitations, invited, service.now, by)
    await service.store.keys.revoke(by.keyId, service.now, operator)
    for (const email of ['eve@example.com', 'ada@elsewhere.example', 'ada@example.com']) {
      const { statusCode, body } = await post('email', { email, invitation })
      answers.push(`${statusCode} ${body}`)
    }
    assert.equal(new Set(answers).size, 1)
    await eventually(() => assert.equal(mail.received.length, 1))
    assert.deepEqual(mail.received[0]?.to, ['ada@example.com'])
    assertError(await post('email', { email: 'no address' }), 422, 'validation_error')
    assertError(await post('email', { email: 'a@b.example' }, { 'sec-fetch-site': 'cross-site' }), 403, 'forbidden')
  })

  test('a mailbox gets three links a quarter of an hour at most, by any spelling of its address, and one of them works until the next', async () => {
    const { service, post } = await openMailService()
    for (const name of ['a', 'b']) {
      const statuses = []
      for (let i = 0; i < 4; i++) statuses.push((await post('email', { email: `${name}+${i}@example.com` })).statusCode)
      assert.deepEqual(statuses, [202, 202, 202, 429])
    }
    service.now += 15 * minute
    assert.equal((await post('email', { email: 'a@example.com' })).statusCode, 202)
  })

  test('a disabled person gets no link, and a link from before does not work', async () => {
    const { service, tenant, mail, post, invite, receivedLink } = await openMailService()
    const { token: invitation } = await invite('ada@example.com')
    await post('email', { email: 'ada@example.com', invitation })
    await post('link', { token: await receivedLink(1) })
    service.now += 1_000
    await post('email', { email: 'ada@example.com' })
    const link = await receivedLink(2)
    const [person] = await service.store.people.list(tenant.organisation.id)
    await service.store.people.disable(person as Person, service.now, operator)
    assertError(await post('link', { token: link }), 409, 'conflict')
    await post('email', { email: 'ada@example.com' })
    await post('email', { email: 'bob@example.com' })
    assert.equal(mail.received.length, 2)
  })
})

test('GitHub signs people in by their primary address, if it is verified', async (t) => {
  const emails = [{ email: 'Ada@Example.com', primary: true, verified: true }]
  const requests: string[] = []
  const github = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    requests.push(`${request.method} ${pathname}`)
    const bodies: Record<string, unknown> = {
      '/login/oauth/access_token': { access_token: 'gho_1', token_type: 'bearer', scope: 'user:email' },
      '/api/v3/user': { id: 7, login: 'ada', name: null },
      '/api/v3/user/emails': emails,
    }
    response.setHeader('content-type', 'application/json')
    // As GitHub does, with the status 200.
    if (isRejected && pathname.endsWith('access_token')) response.end('{"error":"incorrect_client_credentials"}')
    else response.end(JSON.stringify(bodies[pathname]))
  })
  let isRejected = false
  github.listen(0, '127.0.0.1')
  await once(github, 'listening')
  t.after(() => github.close())
  const issuer = `http://127.0.0.1:${(github.address() as AddressInfo).port}`
  const idp = await startIdentityProvider()
  const { url, begin, comeBack, session, check } = await openService(idp, { provider: { kind: 'github', issuer } })
  async function signIn(browser: CookieBrowser) {
    const authorization = new URL(await begin(browser))
    assert.equal(authorization.origin + authorization.pathname, `${issuer}/login/oauth/authorize`)
    const state = authorization.searchParams.get('state')
    return comeBack(browser, `${url}/sign-in/callback?code=1&state=${state}`)
  }
  const browser = new CookieBrowser()
  assert.equal(await signIn(browser), '/')
  assert.deepEqual((await session(browser)).data.person.name, 'ada')
  assert.deepEqual(requests, ['POST /login/oauth/access_token', 'GET /api/v3/user', 'GET /api/v3/user/emails'])
  emails[0] = { email: 'ada@example.com', primary: true, verified: false }
  assert.equal(await signIn(new CookieBrowser()), '/sign-in?failed=unverified')
  isRejected = true
  assert.equal(await signIn(new CookieBrowser()), '/sign-in?failed=setup')
  assert.equal((await check()).problems[0].setting, 'SIGN_IN_CLIENT_SECRET')
})
