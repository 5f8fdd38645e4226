import { fromEnvironment } from './environment.ts'
import { type ClientOptions, createTransport } from './request.ts'
import { type Alerts, alerts } from './resources/alerts.ts'
import { type Audit, audit } from './resources/audit.ts'
import { type Deployments, deployments } from './resources/deployments.ts'
import { type History, history } from './resources/history.ts'
import { type Impact, impact } from './resources/impact.ts'
import { type Keys, keys } from './resources/keys.ts'
import { type Organisation, organisation } from './resources/organisation.ts'
import { type Prompts, prompts } from './resources/prompts.ts'
import { type Regressions, regressions } from './resources/regressions.ts'
import { type Repositories, repositories } from './resources/repositories.ts'
import { type Segments, segments } from './resources/segments.ts'
import { type Session, session } from './resources/session.ts'
import { type Shares, shares } from './resources/shares.ts'
import { type Shifts, shifts } from './resources/shifts.ts'
import { type Signals, signals } from './resources/signals.ts'
import { type Timeline, timeline } from './resources/timeline.ts'
import { type Tokens, tokens } from './resources/tokens.ts'
import { type Usage, usage } from './resources/usage.ts'
import { type Versions, versions } from './resources/versions.ts'
import { type Votes, votes } from './resources/votes.ts'

/**
 * Client of one Promptledger service, with one property per resource.
 *
 * ```ts
 * const ledger = new Promptledger() // reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY
 * await ledger.signals.create('prompts/support.md', { value: 'positive' })
 * ```
 */
export class Promptledger {
  readonly prompts: Prompts
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
  readonly alerts: Alerts
  readonly organisation: Organisation
  readonly usage: Usage
  readonly keys: Keys
  readonly repositories: Repositories
  readonly audit: Audit
  readonly session: Session

  constructor(options: ClientOptions = {}) {
    // Closures hold the keys, so printing this object never reveals them.
    const signingKey = options.signingKey ?? fromEnvironment('PROMPTLEDGER_SIGNING_KEY')
    const service = createTransport(options, Boolean(signingKey))
    this.prompts = prompts(service)
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
    this.alerts = alerts(service)
    this.organisation = organisation(service)
    this.usage = usage(service)
    this.keys = keys(service)
    this.repositories = repositories(service)
    this.audit = audit(service)
    this.session = session(service)
  }
}
