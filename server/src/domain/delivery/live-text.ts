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
  /** The bytes of its text. */
  size: number
}

interface LiveText extends LiveVersionOfPrompt {
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

interface LiveTextStores {
  prompts: Pick<PromptStore, 'list'>
  history: Pick<HistoryStore, 'newestChanges' | 'landedChanges' | 'entries'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'deployedPrompts'>
  liveTexts: LiveTextStore
}

/** A prompt is far smaller. Larger files are not delivered. */
export const maxDeliveredBytes = 256 * 1024

// 16 MiB, which the worker process, a message from it and the transaction hold at the same time.
const maxTextsAtOnce = 64
// Enough to find the live version of almost every prompt. The others are read in full.
const maxRecentChanges = 20

/** What has to change in the stored texts of an organisation. */
interface StaleTexts {
  /** The versions that went live since, by repository. */
  changed: Map<number, LiveVersionOfPrompt[]>
  /** The prompts that have no live text any more. */
  removed: number[]
}

/** Compares the stored texts with what is live. Reads the database only: git may be slow. */
export async function staleTexts(stores: LiveTextStores, organisationId: number, now: Instant): Promise<StaleTexts> {
  const [settings, all, stored] = await Promise.all([
    stores.liveTexts.settings(organisationId),
    stores.prompts.list(organisationId),
    stores.liveTexts.versions(organisationId),
  ])
  const takeTurns = createTurns()
  const prompts: Prompt[] = []
  for (const prompt of settings.enabled ? all : []) {
    if (prompt.repositoryId !== null && isDelivered(settings, prompt)) prompts.push(prompt)
    await takeTurns()
  }
  const live = await liveVersions(stores, organisationId, prompts, now)
  const known = new Map(stored.map((version) => [version.promptId, version.entryId]))
  const changed = [...live.values()].filter(({ version }) => known.get(version.promptId) !== version.entryId)
  const parts = Map.groupBy(changed, ({ repositoryId }) => repositoryId)
  return {
    changed: new Map([...parts].map(([id, parts]) => [id, parts.map(({ version }) => version)])),
    removed: stored.filter(({ promptId }) => !live.has(promptId)).map(({ promptId }) => promptId),
  }
}

/**
 * Stores the texts of these versions, as far as the mirror of their repository has them. What it lacks stays as it was: a delivered text
 * always belongs to the version beside it. Returns how many are missing.
 */
export async function storeLiveTexts(
  liveTexts: Pick<LiveTextStore, 'replace'>,
  repositories: Pick<RepositoryService, 'texts'>,
  organisationId: number,
  repositoryId: number,
  versions: LiveVersionOfPrompt[],
): Promise<number> {
  let missing = 0
  for (let start = 0; start < versions.length; start += maxTextsAtOnce) {
    const part = versions.slice(start, start + maxTextsAtOnce)
    const blobs = part.map(({ blob }) => blob)
    const { texts, tooLarge } = await repositories.texts(repositoryId, blobs, maxDeliveredBytes)
    const stored = part.flatMap((version) => {
      const text = texts.get(version.blob)
      return text === undefined ? [] : [{ ...version, text }]
    })
    const removed = part.filter(({ blob }) => tooLarge.includes(blob)).map(({ promptId }) => promptId)
    if (stored.length + removed.length > 0) await liveTexts.replace(organisationId, stored, removed)
    missing += part.length - stored.length - removed.length
  }
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
