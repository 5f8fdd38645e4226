import type { Clock } from '../../domain/time.ts'
import { sqlAlertDeliveries } from './alert-deliveries.ts'
import { sqlAlerts } from './alerts.ts'
import { sqlAudit } from './audit.ts'
import { sqlBriefings } from './briefings.ts'
import type { Database } from './database.ts'
import { sqlDeliveries } from './deliveries.ts'
import { sqlDeployments } from './deployments.ts'
import { sqlDrift } from './drift.ts'
import { sqlFacts } from './facts.ts'
import { sqlHistory } from './history.ts'
import { sqlInvitations } from './invitations.ts'
import { sqlKeys } from './keys.ts'
import { sqlLiveTexts } from './live-texts.ts'
import { sqlNotices } from './notices.ts'
import { sqlOrganisations } from './organisations.ts'
import { sqlPeople } from './people.ts'
import { sqlPrompts } from './prompts.ts'
import { sqlProposals } from './proposals.ts'
import { sqlPullComments } from './pull-comments.ts'
import { sqlRankings } from './rankings.ts'
import { sqlRegressions } from './regressions.ts'
import { sqlRepositories } from './repositories.ts'
import { sqlSealedSecrets } from './sealed-secrets.ts'
import { sqlSegments } from './segments.ts'
import { sqlSessions } from './sessions.ts'
import { sqlShares } from './shares.ts'
import { sqlShifts } from './shifts.ts'
import { sqlSignalDeletion } from './signal-deletion.ts'
import { sqlSignalEvents } from './signal-events.ts'
import { sqlSignals } from './signals.ts'
import { sqlSources } from './sources.ts'
import { sqlSweep } from './sweep.ts'
import { sqlTelemetry } from './telemetry.ts'
import { sqlTrials } from './trials.ts'

/** The parts of the store that are the same on both engines. */
export function sqlStore(database: Database, clock: Clock) {
  return {
    organisations: sqlOrganisations(database),
    keys: sqlKeys(database),
    people: sqlPeople(database),
    invitations: sqlInvitations(database),
    sessions: sqlSessions(database),
    shares: sqlShares(database),
    prompts: sqlPrompts(database),
    history: sqlHistory(database),
    signals: { ...sqlSignals(database, clock), delete: sqlSignalDeletion(database) },
    segments: sqlSegments(database),
    repositories: sqlRepositories(database),
    secrets: sqlSealedSecrets(database),
    deliveries: sqlDeliveries(database),
    facts: sqlFacts(database),
    deployments: sqlDeployments(database),
    liveTexts: sqlLiveTexts(database),
    trials: sqlTrials(database),
    telemetry: sqlTelemetry(database),
    drift: sqlDrift(database),
    rankings: sqlRankings(database),
    shifts: sqlShifts(database),
    regressions: sqlRegressions(database),
    sweep: sqlSweep(database),
    alerts: sqlAlerts(database),
    alertDeliveries: sqlAlertDeliveries(database),
    signalEvents: sqlSignalEvents(database),
    notices: sqlNotices(database),
    pullComments: sqlPullComments(database),
    briefings: sqlBriefings(database),
    sources: sqlSources(database),
    proposals: sqlProposals(database),
    audit: sqlAudit(database),
  }
}
