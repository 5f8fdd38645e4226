import { createDelivery } from './delivery.ts'
import { fromEnvironment } from './environment.ts'
import {
  type Alerts,
  type Audit,
  alerts,
  audit,
  type Deployments,
  deployments,
  session as generated,
  type History,
  history,
  type Impact,
  type Invitations,
  impact,
  invitations,
  type Keys,
  keys,
  type Organisation,
  organisation,
  type People,
  type Prompts,
  people,
  prompts,
  type Regressions,
  type Repositories,
  regressions,
  repositories,
  type Segments,
  type Sessions,
  type Shares,
  type Shifts,
  type Sources,
  segments,
  sessions,
  shares,
  shifts,
  sources,
  type Telemetry,
  type Texts,
  type Trials,
  telemetry,
  texts,
  trials,
  type Usage,
  usage,
  type Versions,
  type Votes,
  versions,
  votes,
} from './generated/resources.ts'
import type { PromptText, TextOptions } from './prompt-text.ts'
import { type ClientOptions, createTransport, type RequestOptions, requestData, type Transport } from './request.ts'
import { type Signals, signals } from './resources/signals.ts'
import { type Timeline, timeline } from './resources/timeline.ts'
import { type Tokens, tokens } from './resources/tokens.ts'
import type { SessionInfo } from './types.ts'

/**
 * Client of one Promptledger service, with one property per resource.
 *
 * ```ts
 * const ledger = new Promptledger() // reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY
 * await ledger.signals.create('prompts/support.md', { value: 'positive' })
 * ```
 */
export class Promptledger {
  readonly prompts: Prompts & { text: (prompt: string, options: TextOptions) => Promise<PromptText> }
  readonly history: History
  readonly versions: Versions
  readonly deployments: Deployments
  readonly signals: Signals
  readonly tokens: Tokens
  readonly votes: Votes
  readonly impact: Impact
  readonly timeline: Timeline
  readonly segments: Segments
  readonly regressions: Regressions
  readonly shifts: Shifts
  readonly shares: Shares
  readonly trials: Trials
  readonly texts: Texts
  readonly telemetry: Telemetry
  readonly alerts: Alerts
  readonly sources: Sources
  readonly organisation: Organisation
  readonly usage: Usage
  readonly keys: Keys
  readonly people: People
  readonly invitations: Invitations
  readonly repositories: Repositories
  readonly audit: Audit
  readonly session: Session
  readonly sessions: Sessions
  /**
   * Sends what `prompts.text` has counted, for up to `timeout` milliseconds (5,000 by default), and stops its requests. Queues close on
   * their own.
   */
  readonly close: (options?: { timeout?: number }) => Promise<void>

  constructor(options: ClientOptions = {}) {
    // Closures hold the keys, so printing this object never reveals them.
    const signingKey = options.signingKey ?? fromEnvironment('PROMPTLEDGER_SIGNING_KEY')
    const service = createTransport(options, Boolean(signingKey))
    const delivery = createDelivery(service, options.delivery)
    this.prompts = { ...prompts(service), text: delivery.text }
    this.close = ({ timeout = 5_000 } = {}) => delivery.close(timeout)
    this.history = history(service)
    this.versions = versions(service)
    this.deployments = deployments(service)
    this.signals = signals(service)
    this.tokens = tokens(signingKey)
    this.votes = votes(service)
    this.impact = impact(service)
    this.timeline = timeline(service)
    this.segments = segments(service)
    this.regressions = regressions(service)
    this.shifts = shifts(service)
    this.shares = shares(service)
    this.trials = trials(service)
    this.texts = texts(service)
    this.telemetry = telemetry(service)
    this.alerts = alerts(service)
    this.sources = sources(service)
    this.organisation = organisation(service)
    this.usage = usage(service)
    this.keys = keys(service)
    this.people = people(service)
    this.invitations = invitations(service)
    this.repositories = repositories(service)
    this.audit = audit(service)
    this.session = session(service)
    this.sessions = sessions(service)
  }
}

type Session = ReturnType<typeof session>

/** For browsers: they send the key once, and from then on a cookie that scripts cannot read authenticates requests. */
function session(service: Transport) {
  return {
    ...generated(service),

    /** Signs in with a key that has the role `standard` or `admin`. */
    create(key: string, options?: RequestOptions): Promise<SessionInfo> {
      const headers = { Authorization: `Bearer ${key}` }
      return requestData(service, { method: 'POST', path: '/session', headers }, options)
    },
  }
}
