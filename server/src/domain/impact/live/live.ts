import type { DeploymentStore } from '../../deployments/deployment.ts'
import { timedChanges } from '../../history/change.ts'
import type { EntryDetails } from '../../history/entry.ts'
import type { HistoryStore } from '../../history/history.ts'
import type { Prompt } from '../../prompt.ts'
import type { Instant } from '../../time.ts'
import { lineOf } from '../reading/vote-history.ts'
import { type LiveHistory, type LivePartOfChange, liveHistory } from './live-window.ts'

/** A version that was live at some time. */
export interface LiveVersion extends Omit<LivePartOfChange, 'change'> {
  entry: EntryDetails
}

interface Live extends LiveVersion {
  /** Other versions that were live at the same time, with a smaller share. */
  others: LiveVersion[]
}

interface LiveStores {
  history: Pick<HistoryStore, 'live' | 'landedChanges' | 'entries'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

/** The version that was live at an instant; null if there was none. */
export async function liveAt(stores: LiveStores, prompt: Prompt, at: Instant, now: Instant): Promise<Live | null> {
  const deployed = await deployedHistory(stores, prompt, now)
  if (deployed === null) {
    const entry = await stores.history.live(prompt, at, now)
    return entry === null ? null : { entry, share: 1, source: 'merge', environment: null, others: [] }
  }
  const parts = deployed.at(at)
  const ids = parts.map(({ change }) => change.id)
  const entries = new Map((await stores.history.entries(prompt.organisationId, ids)).map((entry) => [entry.id, entry]))
  const [first, ...others] = parts.flatMap(({ change, ...part }): LiveVersion[] => {
    const entry = entries.get(change.id)
    return entry === undefined ? [] : [{ entry, ...part }]
  })
  return first === undefined ? null : { ...first, others }
}

/** When each change of the prompt was live; null if only merges tell. */
async function deployedHistory(stores: LiveStores, prompt: Prompt, now: Instant): Promise<LiveHistory | null> {
  const segments = await lineOf(stores, prompt)
  if (segments.length === 0) return null
  return liveHistory(timedChanges(await stores.history.landedChanges(prompt), now), segments)
}
