import { type ClientOptions, createTransport } from './request.ts'
import { type Alerts, alerts } from './resources/alerts.ts'
import { type Audit, audit } from './resources/audit.ts'
import { type Deployments, deployments } from './resources/deployments.ts'
import { type History, history } from './resources/history.ts'
import { type Impact, impact } from './resources/impact.ts'
import { type Keys, keys } from './resources/keys.ts'
import { type Prompts, prompts } from './resources/prompts.ts'
import { type Regressions, regressions } from './resources/regressions.ts'
import { type Repositories, repositories } from './resources/repositories.ts'
import { type Segments, segments } from './resources/segments.ts'
import { type Session, session } from './resources/session.ts'
import { type Shifts, shifts } from './resources/shifts.ts'
import { type Signals, signals } from './resources/signals.ts'
import { type Timeline, timeline } from './resources/timeline.ts'
import { type Usage, usage } from './resources/usage.ts'

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
  readonly deployments: Deployments
  readonly signals: Signals
  readonly impact: Impact
  readonly timeline: Timeline
  readonly segments: Segments
  readonly regressions: Regressions
  readonly shifts: Shifts
  readonly alerts: Alerts
  readonly usage: Usage
  readonly keys: Keys
  readonly repositories: Repositories
  readonly audit: Audit
  readonly session: Session

  constructor(options: ClientOptions = {}) {
    // The closure holds the API key, so printing this object never reveals it.
    const service = createTransport(options)
    this.prompts = prompts(service)
    this.history = history(service)
    this.deployments = deployments(service)
    this.signals = signals(service)
    this.impact = impact(service)
    this.timeline = timeline(service)
    this.segments = segments(service)
    this.regressions = regressions(service)
    this.shifts = shifts(service)
    this.alerts = alerts(service)
    this.usage = usage(service)
    this.keys = keys(service)
    this.repositories = repositories(service)
    this.audit = audit(service)
    this.session = session(service)
  }
}
