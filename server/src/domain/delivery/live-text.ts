import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment } from '../deployments/live-line.ts'
import { type LandedChange, timedChanges } from '../history/change.ts'
import type { HistoryStore } from '../history/history.ts'
import { liveHistory } from '../impact/live/live-window.ts'
import type { Prompt, PromptStore } from '../prompt.ts'
import type { RepositoryService } from '../repositories/repository-service.ts'
import { createTurns, type Instant } from '../time.ts'
import { type DeliverySettingsStore, isDelivered } from './settings.ts'

/** Which version of a prompt is live, and the ID of its text in git. */
export interface LiveVersionOfPrompt {
  promptId: number
  entryId: number
  commitSha: string
  blob: string
}

export interface StoredVersion extends LiveVersionOfPrompt {
  /** The length of its text. */
  size: number
}

export interface LiveText extends LiveVersionOfPrompt {
  text: string
}

export interface LiveTextStore extends DeliverySettingsStore {
  /** The versions whose texts are stored. */
  versions(organisationId: number): Promise<StoredVersion[]>
  /** Their texts, of these prompts. */
  texts(organisationId: number, promptIds: number[]): Promise<LiveText[]>
  /** Stores what is live now, and forgets the prompts in `removed`. */
  replace(organisationId: number, stored: LiveText[], removed: number[]): Promise<void>
}

export interface LiveTextStores {
  prompts: Pick<PromptStore, 'list'>
  history: Pick<HistoryStore, 'newestChanges' | 'landedChanges' | 'entries'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'deployedPrompts'>
  liveTexts: LiveTextStore
}

/** A prompt is far smaller. Larger files are not delivered. */
export const maxDeliveredBytes = 256 * 1024

// Enough to find the live version of almost every prompt. The others are read in full.
const maxRecentChanges = 20

/**
 * Stores the texts of the versions that went live since the last call, so that no request waits for git. What git cannot provide stays
 * as it was: a delivered text always belongs to the version beside it. Returns how many prompts could not be brought up to date.
 */
export async function storeLiveTexts(
  stores: LiveTextStores,
  repositories: Pick<RepositoryService, 'texts'>,
  organisationId: number,
  now: Instant,
): Promise<number> {
  const [settings, all, stored] = await Promise.all([
    stores.liveTexts.settings(organisationId),
    stores.prompts.list(organisationId),
    stores.liveTexts.versions(organisationId),
  ])
  const prompts = settings.enabled
    ? all.filter((prompt) => prompt.repositoryId !== null && isDelivered(settings, prompt))
    : []
  const live = await liveVersions(stores, organisationId, prompts, now)
  const known = new Map(stored.map((version) => [version.promptId, version]))
  const removed = stored.filter(({ promptId }) => !live.has(promptId)).map(({ promptId }) => promptId)
  const changed = [...live.values()].filter(({ version }) => known.get(version.promptId)?.entryId !== version.entryId)
  const texts: LiveText[] = []
  let missing = 0
  for (const [repositoryId, parts] of Map.groupBy(changed, (each) => each.repositoryId)) {
    const found = await repositories.texts(
      repositoryId,
      parts.map(({ version }) => version.blob),
      maxDeliveredBytes,
    )
    for (const { version } of parts) {
      const text = found.texts.get(version.blob)
      if (text !== undefined) texts.push({ ...version, text })
      else if (found.tooLarge.includes(version.blob)) removed.push(version.promptId)
      else missing++
    }
  }
  if (texts.length > 0 || removed.length > 0) await stores.liveTexts.replace(organisationId, texts, removed)
  return missing
}

interface LivePart {
  version: LiveVersionOfPrompt
  repositoryId: number
}

/** The live version of each prompt that has one with a file in git, by the ID of the prompt. */
async function liveVersions(
  stores: LiveTextStores,
  organisationId: number,
  prompts: Prompt[],
  now: Instant,
): Promise<Map<number, LivePart>> {
  const takeTurns = createTurns()
  const [recent, deployed] = await Promise.all([
    stores.history.newestChanges(prompts, maxRecentChanges),
    stores.deployments.deployedPrompts(
      organisationId,
      prompts.map(({ id }) => id),
    ),
  ])
  const entryIds = new Map<number, number>()
  for (const [i, prompt] of prompts.entries()) {
    const own = deployed.has(prompt.id) ? await stores.deployments.promptLine(prompt) : null
    const segments = own ?? (await stores.deployments.line(organisationId, prompt.repositoryId as number))
    const changes = recent[i] ?? []
    // A deployment may be of an older version.
    const isCut = changes.length === maxRecentChanges
    const id =
      liveEntry(changes, segments, now) ??
      (isCut ? liveEntry(await stores.history.landedChanges(prompt), segments, now) : undefined)
    if (id !== undefined) entryIds.set(prompt.id, id)
    await takeTurns()
  }
  const entries = await stores.history.entries(organisationId, [...entryIds.values()])
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  const live = new Map<number, LivePart>()
  for (const [promptId, entryId] of entryIds) {
    const entry = entryOf.get(entryId)
    if (entry === undefined || entry.afterBlob === null || entry.repositoryId === null) continue
    const { commitSha, afterBlob: blob, repositoryId } = entry
    live.set(promptId, { version: { promptId, entryId, commitSha, blob }, repositoryId })
  }
  return live
}

function liveEntry(changes: LandedChange[], segments: LineSegment[], now: Instant): number | undefined {
  return liveHistory(timedChanges(changes, now), segments).at(now)[0]?.change.id
}
