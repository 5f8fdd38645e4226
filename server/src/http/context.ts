import type { Logger } from 'pino'
import type { PlanLimits } from '../domain/access/plan.ts'
import type { SignInRules } from '../domain/access/sign-in.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import type { LearnedDrift } from '../domain/impact/model/learned-drift.ts'
import type { Propose } from '../domain/proposals/proposal.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Voters } from '../domain/signals/voter.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import type { ProviderSettings } from '../sign-in/provider.ts'
import type { DemoApplication } from './demo/routes.ts'
import type { LastUsedTracker } from './keys/last-used.ts'

/** Dependencies of the routes. */
export interface Context {
  store: Store
  lastUsed: LastUsedTracker
  repositories: RepositoryService
  alerts: AlertService
  propose: Propose
  voters: Voters
  /** Encrypts the secrets of signing keys. */
  vault: Vault
  learned: LearnedDrift
  /** The URL at which forges and browsers reach the service. */
  publicUrl: () => string
  /** The folder of the built console. It may not exist. */
  consoleFolder: URL
  clock: Clock
  log: Logger
  limits: RequestLimits
  planLimits: PlanLimits
  /** Addresses and networks of proxies, whose `X-Forwarded-For` says where a vote comes from. */
  trustedProxies: readonly string[]
  organisationLimits: OrganisationLimits
  observer?: RequestObserver
  /** False leaves all requests to Fastify, so that tests can compare both paths. */
  shortPath?: boolean
  signIn: SignIn
  /** Only in the demo. */
  demo?: DemoApplication
}

/** How people sign in. */
export interface SignIn {
  rules: SignInRules
  /** Null if people sign in by email, or not at all. */
  provider: ProviderSettings | null
  /** Whether people may sign in by email, if it can be sent. */
  allowsEmail: boolean
  /** Null if the service cannot send email. */
  sendMail: SendMail | null
  /** What is wrong with the settings. */
  problems: readonly { setting: string; message: string }[]
}

/** Sends one email. Rejects if the mail server did not take it. */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<void>

/** How much of a process one caller may use: see docs/operations/overload.md. */
export interface RequestLimits {
  /** Percent of the requests and body bytes that the process accepts. */
  organisationShare: number
  keyShare: number
  /** Light requests of one organisation that are at work at the same time. A heavy one counts as several. */
  organisationConcurrency: number
}

/** What the operator's settings allow each organisation. */
export interface OrganisationLimits {
  repositories: number
  /** After how many days signals are deleted. Null if they are kept. */
  signalRetentionDays: number | null
  /** For how many days it is remembered which trace belongs to which prompt. */
  telemetryDays: number
}

/** Receives the duration and status of every response. */
export interface RequestObserver {
  /** Registers a route and returns its handle for `responded`. */
  route(method: string, pattern: string): number
  responded(route: number, status: number, milliseconds: number): void
}
