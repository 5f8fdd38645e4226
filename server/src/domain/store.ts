import type { KeyStore } from './access/api-key.ts'
import type { AuditStore } from './access/audit.ts'
import type { InvitationStore } from './access/invitation.ts'
import type { OrganisationStore } from './access/organisation.ts'
import type { PersonStore } from './access/person.ts'
import type { SessionStore } from './access/session.ts'
import type { ShareStore } from './access/share.ts'
import type { AlertStore } from './alerts/alert.ts'
import type { AlertDeliveryStore } from './alerts/delivery.ts'
import type { NoticeStore } from './alerts/notice.ts'
import type { PullCommentStore } from './alerts/pull-comment.ts'
import type { SignalEventStore } from './alerts/signal-event.ts'
import type { ArchiveStore } from './archive/archive.ts'
import type { BriefingStore } from './briefings/briefing.ts'
import type { LiveTextStore } from './delivery/live-text.ts'
import type { DeploymentStore } from './deployments/deployment.ts'
import type { FactStore } from './history/facts.ts'
import type { HistoryStore } from './history/history.ts'
import type { DriftStore } from './impact/model/drift-store.ts'
import type { RankingStore } from './impact/ranking.ts'
import type { SegmentStore } from './impact/reading/segment-keys.ts'
import type { PromptStore } from './prompt.ts'
import type { ProposalStore } from './proposals/proposal.ts'
import type { RegressionStore } from './regressions/regression.ts'
import type { SweepStore } from './regressions/sweep.ts'
import type { DeliveryStore } from './repositories/delivery.ts'
import type { LeaseStore } from './repositories/lease.ts'
import type { RepositoryStore } from './repositories/repository.ts'
import type { SealedSecretStore } from './repositories/secret-rotation.ts'
import type { ShiftStore } from './shifts/shift.ts'
import type { SignalStore } from './signals/signal.ts'
import type { VoteStore } from './signals/votes.ts'
import type { SourceStore } from './sources/source.ts'
import type { TelemetryStore } from './telemetry/telemetry.ts'
import type { Instant } from './time.ts'
import type { TrialStore } from './trials/trial.ts'

/** Calls waiting for the database, which are answered in batches. */
export interface QueueStats {
  waiting(): number
  /** How long calls have been waiting without any of them being answered. */
  stalledForMs(): number
}

export interface Queues {
  /** Every request starts with `refresh`. */
  refresh: QueueStats
  signals: QueueStats & {
    /**
     * How long the server with the signals of this organisation has not recorded any that it was sent, where others have those of other
     * organisations. Otherwise 0.
     */
    serverStalledForMs(organisationId: number): number
  }
}

export interface StoreStats {
  caches: Record<
    | 'keys'
    | 'signing_keys'
    | 'sessions'
    | 'prompts'
    | 'named_prompts'
    | 'prompt_pages'
    | 'pages'
    | 'deployments'
    | 'prompt_lines'
    | 'tried_prompts'
    | 'changes'
    | 'newest_changes'
    | 'entries'
    | 'versions',
    { hits: number; misses: number }
  >
  /** The connection pool. Null for SQLite, which has a single connection. */
  connections: { total: number; idle: number; waiting: number } | null
}

/**
 * The persistence port. Every method is one atomic transaction, durable once its promise resolves, so callers never hold one
 * open. One test suite checks both adapters in store/ against this contract.
 */
export interface Store {
  organisations: OrganisationStore
  keys: KeyStore
  people: PersonStore
  invitations: InvitationStore
  sessions: SessionStore
  shares: ShareStore
  prompts: PromptStore
  history: HistoryStore
  signals: SignalStore & VoteStore
  segments: SegmentStore
  repositories: RepositoryStore & LeaseStore
  secrets: SealedSecretStore
  deliveries: DeliveryStore
  facts: FactStore
  deployments: DeploymentStore
  liveTexts: LiveTextStore
  trials: TrialStore
  telemetry: TelemetryStore
  drift: DriftStore
  rankings: RankingStore
  shifts: ShiftStore
  regressions: RegressionStore
  sweep: SweepStore
  alerts: AlertStore
  alertDeliveries: AlertDeliveryStore
  signalEvents: SignalEventStore
  notices: NoticeStore
  pullComments: PullCommentStore
  briefings: BriefingStore
  sources: SourceStore
  proposals: ProposalStore
  audit: AuditStore
  archive: ArchiveStore
  /** The version of the newest migration. Opening the store applies all of them. */
  schemaVersion: number
  /** When the database got its first table: the same for all processes that use it. */
  databaseCreatedAt: Instant
  /**
   * Invalidates stale caches. Reads after this call see all changes made before it, except that changes by another process may
   * take 5 ms longer. Keys, sessions, prompts and history are cached between calls, so call this first wherever a missed change
   * matters, such as a revoked key or a deleted prompt.
   */
  refresh(): Promise<void>
  /** The same without a promise. One of the callbacks is called, always later. */
  refreshThen(done: () => void, failed: (error: unknown) => void): void
  /** Changes whenever the caches were cleared: what they returned before may be stale. */
  cacheGeneration(): number
  /** Counts a lookup that was spared by what the cache returned before, since it was cleared last. */
  countCacheHit(name: keyof StoreStats['caches']): void
  queues: Queues
  stats(): StoreStats
  /** Rejects if the database does not currently accept writes. */
  checkWritable(): Promise<void>
  /** Waits for signals in flight, then closes the database. */
  close(): Promise<void>
}
