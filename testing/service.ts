import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before } from 'node:test'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import pino from 'pino'
import { createAlertService } from '../server/src/alerts/alert-service.ts'
import { createSendMessage } from '../server/src/alerts/send.ts'
import { readConfig } from '../server/src/config.ts'
import { generateSecret, newApiKey, type Role } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation, type Organisation } from '../server/src/domain/access/organisation.ts'
import type { Plan } from '../server/src/domain/access/plan.ts'
import type { AlertService } from '../server/src/domain/alerts/alert-service.ts'
import { type HistoryEntry, newHistoryEntry } from '../server/src/domain/history/entry.ts'
import { createLearnedDrift } from '../server/src/domain/impact/model/learned-drift.ts'
import { newPrompt, type Prompt } from '../server/src/domain/prompt.ts'
import type { Propose } from '../server/src/domain/proposals/proposal.ts'
import type { RepositoryService } from '../server/src/domain/repositories/repository-service.ts'
import { createVault } from '../server/src/domain/repositories/vault.ts'
import { createVoters, type Voters } from '../server/src/domain/signals/voter.ts'
import type { Store } from '../server/src/domain/store.ts'
import { createRepositoryService } from '../server/src/follow/repository-service.ts'
import type { SyncContext } from '../server/src/follow/sync-context.ts'
import { idleWorker } from '../server/src/follow/worker.ts'
import { buildApp } from '../server/src/http/app.ts'
import type { OrganisationLimits, RequestObserver, SignIn } from '../server/src/http/context.ts'
import type { DemoApplication } from '../server/src/http/demo/routes.ts'
import { createLastUsedTracker, type LastUsedTracker } from '../server/src/http/keys/last-used.ts'
import { createPropose } from '../server/src/proposals/propose.ts'
import { createJudge, type Judge, withJudge } from '../server/src/service/judge.ts'
import { createLiveTextRounds } from '../server/src/service/live-texts.ts'
import { openStore } from '../server/src/store/open.ts'
import { closeOnTestEnd, onTestEnd } from './cleanup.ts'
import type { Engine, TestDatabase } from './engines.ts'
import { usageOf } from './rows.ts'

/** The real service on a database of its own, with a clock that tests can set. */
export class TestService {
  now = Date.parse('2026-11-15T12:00:00.000Z')
  url = ''
  /** Encrypts stored secrets. */
  secretKey = randomBytes(32)
  /** Without a console build, unless a test sets another folder. */
  consoleFolder = new URL('no-console/', import.meta.url)
  /** Where forges and browsers reach the service. */
  publicUrl = 'https://ledger.example'
  store!: Store
  app!: FastifyInstance
  lastUsed!: LastUsedTracker
  syncContext!: SyncContext
  repositories!: RepositoryService
  alerts!: AlertService
  propose!: Propose
  voters!: Voters
  judge!: Judge
  /** Tests decide themselves when to store the texts that are live. */
  storeLiveTexts!: () => Promise<void>
  /** The defaults, unless a test sets others before it opens the service. */
  limits = readConfig({}).requestLimits
  /** A test may change them at any time. */
  planLimits: Record<Plan, number | null> = { ...readConfig({}).planLimits }
  /** A test may set them before it opens the service. */
  trustedProxies: string[] = []
  /** A test may set it before it opens the service. */
  shortPath = true
  /** A test may set it before it opens the service. */
  observer: RequestObserver | undefined
  /** A test may set it before it opens the service. */
  demo: DemoApplication | undefined
  /** A test may change it before it opens the service. */
  poolSize = 10
  /** A test may change it before it opens the service. By default, only keys sign in. */
  signIn: SignIn = {
    rules: { domains: [], defaultRole: null, groups: null },
    provider: null,
    allowsEmail: true,
    sendMail: null,
    problems: [],
  }
  organisationLimits: OrganisationLimits = { repositories: 100, signalRetentionDays: null, telemetryDays: 14 }
  readonly log: string[] = []
  #database!: TestDatabase
  #dataDir = ''
  #isOpen = false

  async open(engine: Pick<Engine, 'create'>): Promise<void> {
    this.#database = await engine.create()
    this.url = this.#database.url
    const log = pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) })
    const store = await openTestStore(this.url, () => this.now, this.poolSize)
    // Tests decide themselves when to judge.
    this.judge = createJudge({ store, clock: () => this.now, log, restFactor: 0 })
    this.store = withJudge(store, this.judge)
    this.lastUsed = createLastUsedTracker(this.store.keys)
    this.#dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    this.syncContext = {
      store: this.store,
      vault: createVault(this.secretKey),
      clock: () => this.now,
      log,
      dataDir: this.#dataDir,
      allowLocal: true,
      allowRedirects: false,
      sizeLimit: 100_000_000,
      limits: { concurrentSyncs: 4, repositories: 100, inboxBytes: 100_000_000 },
    }
    // Tests decide themselves when to sync.
    const repositories = createRepositoryService(this.syncContext, idleWorker)
    this.repositories = {
      ...repositories,
      // The service responds after a few seconds, whatever was read by then: on a busy machine nothing.
      connect: (connection, actor, { waitMs: _, ...options } = {}) => repositories.connect(connection, actor, options),
    }
    const liveTexts = createLiveTextRounds({ store, repositories: this.repositories, clock: () => this.now, log })
    this.storeLiveTexts = async () => {
      await liveTexts.round()
      await liveTexts.settled()
    }
    this.voters = createVoters(this.store.organisations, this.syncContext.vault)
    this.alerts = createAlertService({
      store: this.store,
      vault: this.syncContext.vault,
      clock: () => this.now,
      // Receivers of tests are on this machine.
      send: createSendMessage({
        network: { allowPrivate: true, allowHttp: true },
        mail: null,
        publicUrl: () => this.publicUrl,
        clock: () => this.now,
        log,
      }),
      targets: { allowPrivate: true, hasMail: true },
      wake: () => {},
    })
    this.propose = createPropose({
      store: this.store,
      vault: this.syncContext.vault,
      repositories: this.repositories,
      publicUrl: () => this.publicUrl,
      clock: () => this.now,
      log,
      // Forges of tests are on this machine.
      allowPrivateAddresses: true,
      allowHttp: true,
    })
    this.app = buildApp({
      store: this.store,
      propose: this.propose,
      lastUsed: this.lastUsed,
      repositories: this.repositories,
      alerts: this.alerts,
      voters: this.voters,
      vault: this.syncContext.vault,
      learned: createLearnedDrift(this.store.drift, () => this.now),
      publicUrl: () => this.publicUrl,
      consoleFolder: this.consoleFolder,
      clock: () => this.now,
      log,
      limits: this.limits,
      planLimits: this.planLimits,
      trustedProxies: this.trustedProxies,
      organisationLimits: this.organisationLimits,
      shortPath: this.shortPath,
      signIn: this.signIn,
      ...(this.observer && { observer: this.observer }),
      ...(this.demo && { demo: this.demo }),
    })
    await this.app.ready()
    this.#isOpen = true
    onTestEnd(() => this.close())
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.app.close()
    await this.store.close()
    await this.#database.remove()
    await rm(this.#dataDir, { recursive: true, force: true })
  }

  organisation(plan: Plan = 'free'): Promise<Organisation> {
    return this.store.organisations.create(newOrganisation('Acme', plan, this.now))
  }

  async key(organisation: Organisation, role: Role = 'standard', expiresAt: number | null = null): Promise<string> {
    const secret = generateSecret()
    const key = { organisationId: organisation.id, name: 'test', role, createdAt: this.now, expiresAt }
    await this.store.keys.create(newApiKey(secret, key), operator)
    return secret
  }

  prompt(organisation: Organisation, name = 'prompts/a.md'): Promise<Prompt> {
    return this.store.prompts.create(newPrompt(organisation.id, name, this.now), operator)
  }

  /** Creates an organisation with a key and a prompt, and returns a client for them. */
  async tenant(plan: Plan = 'free', role: Role = 'standard'): Promise<Tenant> {
    const organisation = await this.organisation(plan)
    const key = await this.key(organisation, role)
    return new Tenant(this, organisation, key, await this.prompt(organisation))
  }
}

export class Tenant {
  readonly service: TestService
  readonly organisation: Organisation
  readonly key: string
  readonly prompt: Prompt

  constructor(service: TestService, organisation: Organisation, key: string, prompt: Prompt) {
    this.service = service
    this.organisation = organisation
    this.key = key
    this.prompt = prompt
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.key}` }
  }

  get path(): string {
    return `/api/v1/prompts/${this.prompt.publicId}`
  }

  history(query = ''): Promise<LightMyRequestResponse> {
    return this.service.app.inject({ url: `${this.path}/history${query}`, headers: this.headers })
  }

  /** Sends text and bytes unchanged, and an object as JSON. */
  signal(body: string | Buffer | object, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    return this.service.app.inject({
      method: 'POST',
      url: `${this.path}/signals`,
      headers: { ...this.headers, 'content-type': 'application/json', ...headers },
      payload,
    })
  }

  /** Imports signals of the current month, which no limit applies to. */
  async fillMonth(count: number): Promise<void> {
    const signal = {
      organisationId: this.organisation.id,
      promptId: this.prompt.id,
      value: 'positive' as const,
      metadata: null,
      createdAt: this.service.now,
    }
    async function* batches() {
      for (let left = count; left > 0; left -= 10_000) yield Array(Math.min(left, 10_000)).fill(signal)
    }
    await this.service.store.signals.import(batches())
  }

  recordEntry(entry: Partial<Omit<HistoryEntry, 'id'>> = {}): Promise<HistoryEntry> {
    return this.service.store.history.record(
      this.prompt,
      newHistoryEntry({ ...deployedEntry(this.service.now), ...entry }),
      this.service.now,
      operator,
    )
  }

  /** The sum of all monthly counters. */
  async used(): Promise<number> {
    const rows = await usageOf(this.service.url, this.organisation.id)
    return rows.reduce((sum, { used }) => sum + used, 0)
  }
}

export function deployedEntry(createdAt: number): Omit<HistoryEntry, 'id'> {
  return {
    action: 'deployed',
    user: { name: 'Ada Lovelace', email: 'ada@example.com' },
    commitSha: 'a1'.repeat(20),
    prNumber: null,
    prUrl: null,
    branchName: 'main',
    createdAt,
  }
}

/** Only the caller decides when audit entries of repeated events are written, apart from the end of the service. */
export function takeOverFlush({ app: { auditThrottle } }: TestService): (all?: boolean) => Promise<void> {
  const { flush } = auditThrottle
  auditThrottle.flush = async (all) => {
    if (all) await flush(all)
  }
  return flush
}

/** Opens the database a second time, as another process would. It is closed with the test or suite. */
export async function openTestStore(url: string, clock: () => number = Date.now, poolSize = 10): Promise<Store> {
  const store = await openStore({ url, poolSize, clock, onLostConnection: () => {} })
  return { ...store, close: closeOnTestEnd(() => store.close()) }
}

/** Opens a service for the tests of the surrounding suite, and closes it after the last one. */
export function useService(engine: Engine): TestService {
  const service = new TestService()
  before(() => service.open(engine))
  return service
}
