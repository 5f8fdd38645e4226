import type { DeploymentStore } from '../../deployments/deployment.ts'
import { environmentsAfter } from '../../deployments/live-line.ts'
import { timedChanges } from '../../history/change.ts'
import type { EntryDetails } from '../../history/entry.ts'
import type { HistoryStore } from '../../history/history.ts'
import type { Prompt } from '../../prompt.ts'
import type { Instant } from '../../time.ts'
import { liveHistory } from './live-window.ts'

/** The versions that run in an environment, of any kind. */
export interface LiveEnvironment {
  environment: string
  production: boolean
  /** Since the last deployment that changed it. */
  since: Instant
  /** The largest share first. Empty if its last deployment ended. */
  versions: EnvironmentVersion[]
}

interface EnvironmentVersion {
  /** Null if it is not known which version of the prompt the commit has. */
  entry: EntryDetails | null
  /** The deployed commit; null for the version that merges had made live before a first canary. */
  commitSha: string | null
  /** Of the traffic of the environment. */
  share: number
}

interface LiveEnvironmentStores {
  history: Pick<HistoryStore, 'landedChanges' | 'entries'>
  deployments: Pick<DeploymentStore, 'environmentEvents'>
}

// An environment that has had no deployment among these is not listed.
const maxEvents = 1_000
const maxEnvironments = 20
const maxVersions = 10

/** What ran in each environment at an instant: production first, then the last changed. Empty without deployments. */
export async function liveEnvironments(
  stores: LiveEnvironmentStores,
  prompt: Prompt,
  at: Instant,
  now: Instant,
): Promise<LiveEnvironment[]> {
  const events = await stores.deployments.environmentEvents(prompt, at, maxEvents)
  if (events.length === 0) return []
  const production = new Set(events.filter((event) => event.production).map(({ environment }) => environment))
  const environments = environmentsAfter(events)
    .map((each) => ({ ...each, production: production.has(each.environment) }))
    .sort((a, b) => Number(b.production) - Number(a.production))
    .slice(0, maxEnvironments)
  const changes = timedChanges(await stores.history.landedChanges(prompt), now)
  const { versionIn } = liveHistory(changes, [])
  const mergedBy = (time: Instant) => changes.findLast(({ mergedAt }) => mergedAt <= time) ?? null
  const found = environments.map(({ parts, ...environment }) => ({
    ...environment,
    versions: parts
      .map(({ place, mergedBy: merged, share }) => {
        const change = place === null ? mergedBy(merged ?? at) : versionIn(place)
        return { id: change?.id ?? null, commitSha: place?.sha ?? null, share }
      })
      .sort((a, b) => b.share - a.share)
      .slice(0, maxVersions),
  }))
  const ids = found.flatMap(({ versions }) => versions.map(({ id }) => id)).filter((id) => id !== null)
  const entries = await stores.history.entries(prompt.organisationId, [...new Set(ids)])
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return found.map(({ versions, ...environment }) => ({
    ...environment,
    versions: versions.map(({ id, ...version }) => ({ ...version, entry: entryOf.get(id ?? 0) ?? null })),
  }))
}
