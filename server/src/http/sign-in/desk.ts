import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { SettingProblem } from '../../domain/access/sign-in.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import { type Clock, type Instant, minute } from '../../domain/time.ts'
import type { Provider } from '../../sign-in/provider.ts'
import type { Context } from '../context.ts'
import { lazy } from '../lazy.ts'

/** What the routes of strangers and those of admins share. */
export interface SignInDesk {
  /** Null if people do not sign in through a provider. Loads it with the first call. */
  provider: (() => Promise<Provider>) | null
  redirectUrl(): string
  /** Counts an attempt of a stranger, which may cost requests to the provider. Throws a `LimitError`. */
  count(request: FastifyRequest): void
  /** Remembers and logs why people could not sign in. */
  report(problem: Pick<SettingProblem, 'setting' | 'message'>): void
  /** What was reported last, since a person signed in without a report. */
  lastProblem(): Problem | null
  /** A person signed in. `before` is what was reported last when they came back. */
  succeeded(before: Problem | null): void
}

interface Problem {
  setting: string
  message: string
  at: Instant
}

// Two for each sign-in: leaving for the provider, and coming back.
const attemptsPerNetwork = 60
const attemptsPerProcess = 600
const maxNetworks = 10_000

const tooMany = 'Too many people are signing in. Try again in a minute, or sign in with a key.'

export function createSignInDesk({ signIn, publicUrl, clock, log }: Context): SignInDesk {
  const { provider: settings, rules } = signIn
  const ofNetwork = createMinuteLimit(attemptsPerNetwork, tooMany, maxNetworks, clock)
  const ofProcess = createMinuteLimit(attemptsPerProcess, tooMany, 1, clock)
  const redirectUrl = () => `${publicUrl()}/sign-in/callback`
  const { report, lastProblem, succeeded } = createProblemLog(log, clock)
  return {
    // openid-client takes longer to load than most routes, and most processes never need it.
    provider:
      settings &&
      lazy(async () => {
        const { createProvider } = await import('../../sign-in/provider.ts')
        return createProvider({ settings, rules, redirectUrl, clock, onProblem: report })
      }),
    redirectUrl,
    count(request) {
      ofNetwork.count(request.server.clientAddresses.networkOf(request))
      ofProcess.count('')
    },
    report,
    lastProblem,
    succeeded,
  }
}

function createProblemLog(log: Logger, clock: Clock): Pick<SignInDesk, 'report' | 'lastProblem' | 'succeeded'> {
  let last: Problem | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    report({ setting, message }) {
      const at = clock()
      // Strangers can cause it as often as they like.
      const isLogged = last?.message === message && Math.abs(at - loggedAt) < minute
      last = { setting, message, at }
      if (isLogged) return
      loggedAt = at
      log.warn({ setting }, `a setting of sign-in is wrong: ${message}`)
    },
    lastProblem: () => last,
    succeeded(before) {
      if (last === before) last = null
    },
  }
}

const providerNames: [RegExp, string][] = [
  [/^accounts\.google\.com$/, 'Google'],
  [/^login\.microsoftonline\.(com|us)$/, 'Microsoft'],
  [/(^|\.)okta(preview)?\.com$/, 'Okta'],
  [/^gitlab\.com$/, 'GitLab'],
  [/^github\.com$/, 'GitHub'],
]

/** What people know the provider by: its name or, of one of their own, its host. */
export function providerName(issuer: string): string {
  const { hostname } = new URL(issuer)
  return providerNames.find(([host]) => host.test(hostname))?.[1] ?? hostname
}
