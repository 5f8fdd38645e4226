import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { crossOriginMessage } from '../../../../contract/schema.ts'
import { mailboxOf, validEmail } from '../../domain/access/email-address.ts'
import {
  type Account,
  admitPerson,
  FailedSignIn,
  isExpected,
  type Refusal,
  SettingProblem,
} from '../../domain/access/sign-in.ts'
import { DomainError } from '../../domain/errors.ts'
import { LimitError } from '../../domain/limit-error.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import type { Vault } from '../../domain/repositories/vault.ts'
import { day, type Instant, minute } from '../../domain/time.ts'
import type { PendingSignIn } from '../../sign-in/provider.ts'
import type { Context } from '../context.ts'
import { acceptJsonBodies } from '../json-bodies.ts'
import { isSameOrigin } from '../same-origin.ts'
import { sessionBody } from '../sessions/body.ts'
import { openSession } from '../sessions/open.ts'
import { providerName, type SignInDesk } from './desk.ts'

/** What a browser keeps, sealed, while it is at the provider. So no stranger makes the service keep anything. */
interface Pending extends PendingSignIn {
  startedAt: Instant
  returnTo: string
  invitation: string | null
}

/** What a sign-in link says. */
interface EmailLink {
  email: string
  sentAt: Instant
  invitation: string | null
}

const pendingForMs = 10 * minute
const linkLifetimeMs = 15 * minute
/** A person whom the provider no longer lets in stays signed in for this long at most. */
const providerSessionMs = day
const linkPrefix = 'pll_'
const linksPerMailbox = 3
const mailsPerMinute = 60
const maxAddresses = 10_000

const token = { type: ['string', 'null'], maxLength: 100 } as const
const beginSchema = {
  type: 'object',
  properties: { return_to: { type: 'string', maxLength: 2_000 }, invitation: token },
} as const
const emailSchema = {
  type: 'object',
  required: ['email'],
  properties: { email: { type: 'string', maxLength: 254 }, invitation: token },
} as const
const linkSchema = {
  type: 'object',
  required: ['token'],
  properties: { token: { type: 'string', maxLength: 4_000 } },
} as const

const notSetUp = 'Sign-in is not set up right. An admin who signs in with a key finds out why on the page People.'
const badLink = 'The link has expired, or was used before. Ask for a new one.'

/** How people sign in, for the pages of the console: not part of the API, so not in its documentation. */
export function signInRoutes(app: FastifyInstance, context: Context, desk: SignInDesk): void {
  const { store, signIn, vault, publicUrl, clock, log } = context
  const { cookies } = app
  const { rules, provider: settings } = signIn
  const sendMail = signIn.allowsEmail ? signIn.sendMail : null
  const ofAddress = createMinuteLimit(
    linksPerMailbox,
    'Too many links were sent to this address. Use the last one, or try again later.',
    maxAddresses,
    clock,
    // As long as a link works: who is refused because a stranger asked has one that does.
    linkLifetimeMs,
  )
  const ofMails = createMinuteLimit(mailsPerMinute, 'Too many links were sent.', 1, clock)

  /** Only our own pages: another site could otherwise sign a visitor in as someone else (login CSRF). */
  async function checkCaller(request: FastifyRequest): Promise<void> {
    if (isSameOrigin(request.headers, publicUrl()) !== true) throw new DomainError('forbidden', crossOriginMessage)
    desk.count(request)
  }

  function sealed(purpose: 'state' | 'link', value: Pending | EmailLink): string {
    try {
      return seal(vault, purpose, value)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      throw new SettingProblem('PROMPTLEDGER_SECRET_KEY', 'PROMPTLEDGER_SECRET_KEY must be set for people to sign in')
    }
  }

  /** Throws a `SettingProblem` where the browser could not come back: the cookie would stay at another host. */
  function checkOrigin({ headers }: FastifyRequest): void {
    const { origin: own } = new URL(publicUrl())
    const { origin } = headers
    if (origin === undefined || origin === own) return
    const message = `PUBLIC_URL is ${own}, but people use the service at another address. Set it to the address that browsers show`
    throw new SettingProblem('PUBLIC_URL', message)
  }

  /** What the page is told about a setting that is wrong. Only admins are told which. */
  function toDomainError(error: unknown): unknown {
    if (!(error instanceof SettingProblem)) return error
    desk.report(error)
    const message = error.setting === 'PUBLIC_URL' ? `Sign in at ${publicUrl()} instead of this address.` : notSetUp
    return new DomainError('conflict', message)
  }

  /** Why the person who came back from the provider is not signed in, or where they go. */
  async function finish(request: FastifyRequest, reply: FastifyReply): Promise<{ path: string } | { failed: string }> {
    const { headers, url } = request
    const cookie = cookies.pendingSignInIn(headers.cookie)
    const pending = cookie === null ? null : unseal<Pending>(vault, 'state', cookie)
    const query = new URL(url, 'http://localhost').searchParams
    // Before the provider is asked: strangers can send any code.
    if (desk.provider === null || pending === null || query.get('state') !== pending.state) return { failed: 'state' }
    if (clock() - pending.startedAt > pendingForMs) return { failed: 'expired' }
    desk.count(request)
    const problem = desk.lastProblem()
    const account = await (await desk.provider()).finish(query, pending)
    const person = await admitPerson(store, rules, { account, invitation: pending.invitation }, clock())
    if (typeof person === 'string') {
      logRefusal(person, account)
      return { failed: person }
    }
    desk.succeeded(problem)
    const session = await openSession(context, request, person, clock() + providerSessionMs)
    reply.header('Set-Cookie', session.cookie)
    return { path: pending.returnTo }
  }

  function logRefusal(refusal: Refusal, { email }: Pick<Account, 'email'>): void {
    log.info({ refusal, domain: email.slice(email.lastIndexOf('@') + 1) }, 'refused a person who wanted to sign in')
  }

  function failureOf(error: unknown): string {
    if (error instanceof FailedSignIn) {
      log.info({ reason: error.reason }, `a sign-in failed: ${error.message}`)
      return error.reason
    }
    if (error instanceof LimitError) return 'busy'
    // The same person joined in another window at the same time.
    if (error instanceof DomainError && error.code === 'conflict') return 'state'
    if (!(error instanceof SettingProblem)) throw error
    desk.report(error)
    return 'setup'
  }

  async function mailLink(email: string, invitation: string | null): Promise<void> {
    const now = clock()
    if (sendMail === null || !(await isExpected(store, rules, email, invitation, now))) return
    ofMails.count('')
    const url = `${publicUrl()}/sign-in#${linkPrefix}${sealed('link', { email, sentAt: now, invitation })}`
    const text =
      `Open this link to sign in to Promptledger as ${email}:\n\n${url}\n\n` +
      'It works once, for 15 minutes. If you did not ask for it, ignore this message.\n'
    await sendMail({ to: email, subject: 'Sign in to Promptledger', text })
  }

  acceptJsonBodies(app)

  app.get('/api/v1/sign-in', async (_request, reply) => {
    const provider = settings && { name: providerName(settings.issuer) }
    return reply.header('Cache-Control', 'no-store').send({ data: { provider, email: sendMail !== null } })
  })

  const begin = { schema: { body: beginSchema }, onRequest: checkCaller }
  app.post('/api/v1/sign-in', begin, async (request, reply) => {
    const { return_to, invitation = null } = request.body as { return_to?: string; invitation?: string | null }
    if (desk.provider === null) throw new DomainError('conflict', notSetUp)
    try {
      checkOrigin(request)
      const { url, pending } = await (await desk.provider()).begin()
      const returnTo = returnPath(return_to, publicUrl())
      const cookie = sealed('state', { ...pending, startedAt: clock(), returnTo, invitation })
      return reply
        .header('Cache-Control', 'no-store')
        .header('Set-Cookie', cookies.pendingSignIn(cookie, pendingForMs / 1_000))
        .send({ data: { url } })
    } catch (error) {
      throw toDomainError(error)
    }
  })

  app.get('/sign-in/callback', async (request, reply) => {
    // Whatever happens, this sign-in is over.
    reply.header('Set-Cookie', cookies.pendingSignIn('', 0))
    const outcome = await finish(request, reply).catch((error) => ({ failed: failureOf(error) }))
    const path = 'path' in outcome ? outcome.path : `/sign-in?failed=${outcome.failed}`
    return reply.header('Cache-Control', 'no-store').redirect(path, 303)
  })

  app.post(
    '/api/v1/sign-in/email',
    { schema: { body: emailSchema }, onRequest: checkCaller },
    async (request, reply) => {
      const { email: text, invitation = null } = request.body as { email: string; invitation?: string | null }
      const email = validEmail('email', text)
      if (sendMail === null) throw new DomainError('conflict', notSetUp)
      const mailbox = mailboxOf(email)
      // Tagged spellings have a count of their own: who asks for them does not lock out the plain address.
      ofAddress.count(email === mailbox ? email : `+${mailbox}`)
      // The response is the same, and as fast, for an address that no one has.
      mailLink(email, invitation).catch((error) => {
        if (error instanceof SettingProblem) desk.report(error)
        else log.warn({ err: error }, 'a sign-in link could not be sent')
      })
      return reply.status(202).send({ data: null })
    },
  )

  app.post('/api/v1/sign-in/link', { schema: { body: linkSchema }, onRequest: checkCaller }, async (request, reply) => {
    const { token } = request.body as { token: string }
    const link = token.startsWith(linkPrefix) ? unseal<EmailLink>(vault, 'link', token.slice(linkPrefix.length)) : null
    if (sendMail === null || link === null || clock() - link.sentAt > linkLifetimeMs) {
      throw new DomainError('conflict', badLink)
    }
    const { email, invitation, sentAt } = link
    const account = { email, name: email, subject: null, groups: null }
    const person = await admitPerson(store, rules, { account, invitation, linkSentAt: sentAt }, clock())
    if (typeof person === 'string') {
      logRefusal(person, account)
      throw new DomainError('conflict', person === 'used' ? badLink : refusals[person])
    }
    const { expiresAt, cookie } = await openSession(context, request, person, null)
    return reply
      .status(201)
      .header('Cache-Control', 'no-store')
      .header('Set-Cookie', cookie)
      .send({ data: await sessionBody(store, { ...person, expiresAt }) })
  })
}

const refusals: Record<Exclude<Refusal, 'used'>, string> = {
  domain: 'Addresses of this domain may not sign in here.',
  disabled: 'An admin has disabled your access.',
  unknown: 'You are in no organisation here. Ask an admin for an invitation.',
  other_account: 'Your address belongs to another account here. Ask an admin.',
  invitation: 'The invitation has expired, was used before, or is for another address. Ask for a new one.',
}

/** The path of a page of this service to return to. Anything else, which could lead to another site, becomes the start page. */
export function returnPath(text: string | undefined, publicUrl: string): string {
  const start = '/'
  if (text === undefined || text.length > 500 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\'))
    return start
  const url = URL.parse(text, publicUrl)
  if (url === null || url.origin !== new URL(publicUrl).origin) return start
  const path = url.pathname + url.search
  return path.startsWith('//') || /^\/(api|sign-in)(\/|$)/.test(url.pathname) ? start : path
}

/** Encrypts what only this service may read back, in letters that cookies and URLs allow. */
function seal(vault: Pick<Vault, 'encrypt'>, purpose: 'state' | 'link', value: object): string {
  return Buffer.from(vault.encrypt(JSON.stringify(value), { purpose, kind: 'sign_in' })).toString('base64url')
}

/** Null for anything that `seal` did not return for the same purpose. */
function unseal<T>(vault: Pick<Vault, 'decrypt'>, purpose: 'state' | 'link', text: string): T | null {
  try {
    return JSON.parse(vault.decrypt(Buffer.from(text, 'base64url').toString(), { purpose, kind: 'sign_in' }))
  } catch {
    return null
  }
}
