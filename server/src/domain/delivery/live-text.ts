import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment } from '../deployments/live-line.ts'
import { DomainError } from '../errors.ts'
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
  /** The bytes of its text; null if it was read and cannot be delivered. */
  size: number | null
}

/** What git has of a version. Its text is null if it cannot be delivered: it is too large, or no text. */
export interface ReadVersion extends LiveVersionOfPrompt {
  text: string | null
}

export interface LiveTextStore extends DeliverySettingsStore {
  /** The versions that were read from git. */
  versions(organisationId: number): Promise<StoredVersion[]>
  /** Their texts, of these prompts. */
  texts(organisationId: number, promptIds: number[]): Promise<ReadVersion[]>
  /**
   * Stores what is live now, each text once, while all texts of the organisation have at most `maxBytes`. Returns how many of the
   * versions do not fit: their prompts stay as they were.
   */
  replace(organisationId: number, read: ReadVersion[], maxBytes: number): Promise<number>
  /** Forgets the texts of these prompts. */
  remove(organisationId: number, promptIds: number[]): Promise<void>
  /** The repositories with an error. */
  failing(organisationId: number): Promise<number[]>
  /** Stores why texts of the repository are not delivered; null if all are. */
  recordError(organisationId: number, repositoryId: number, error: string | null): Promise<void>
}

interface LiveTextStores {
  prompts: Pick<PromptStore, 'list'>
  history: Pick<HistoryStore, 'newestChanges' | 'landedChanges' | 'entries'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'deployedPrompts'>
  liveTexts: LiveTextStore
}

/** A prompt is far smaller. Larger files are not delivered. */
export const maxDeliveredBytes = 256 * 1024

// 8 MiB, which the worker process, a message from it and the transaction hold at the same time.
const maxTextsAtOnce = 32
// Enough to find the live version of almost every prompt. The others are read in full.
const maxRecentChanges = 20

/** What has to change in the stored texts of an organisation. */
interface StaleTexts {
  /** The versions that went live since, by repository. Those of prompts with a text come first. */
  changed: Map<number, LiveVersionOfPrompt[]>
  /** The prompts that have no live text any more. */
  removed: number[]
  /** The repositories with an error that has ended. */
  recovered: number[]
}

/** Compares the stored texts with what is live. Reads the database only: git may be slow. */
export async function staleTexts(stores: LiveTextStores, organisationId: number, now: Instant): Promise<StaleTexts> {
  const [settings, all, stored, failing] = await Promise.all([
    stores.liveTexts.settings(organisationId),
    stores.prompts.list(organisationId),
    stores.liveTexts.versions(organisationId),
    stores.liveTexts.failing(organisationId),
  ])
  const takeTurns = createTurns()
  const prompts: Prompt[] = []
  for (const prompt of settings.enabled ? all : []) {
    if (prompt.repositoryId !== null && isDelivered(settings, prompt)) prompts.push(prompt)
    await takeTurns()
  }
  const live = await liveVersions(stores, organisationId, prompts, now)
  const known = new Map(stored.map((version) => [version.promptId, version.entryId]))
  const parts = [...live.values()].filter((part) => part !== null)
  const changed = parts.filter(({ version }) => known.get(version.promptId) !== version.entryId)
  changed.sort((a, b) => Number(known.has(b.version.promptId)) - Number(known.has(a.version.promptId)))
  const byRepository = Map.groupBy(changed, ({ repositoryId }) => repositoryId)
  return {
    changed: new Map([...byRepository].map(([id, parts]) => [id, parts.map(({ version }) => version)])),
    removed: stored.filter(({ promptId }) => !live.get(promptId)).map(({ promptId }) => promptId),
    recovered: failing.filter((id) => !byRepository.has(id)),
  }
}

/**
 * Stores the texts of these versions, as far as the mirror of their repository has them, and the organisation room for them. Other
 * prompts stay as they were: a delivered text always belongs to the version beside it. Returns how many are missing in git.
 */
export async function storeLiveTexts(
  liveTexts: Pick<LiveTextStore, 'replace' | 'recordError'>,
  repositories: Pick<RepositoryService, 'texts' | 'deliveredBytes'>,
  organisationId: number,
  repositoryId: number,
  versions: LiveVersionOfPrompt[],
): Promise<number> {
  const { deliveredBytes } = repositories
  const byBlob = [...Map.groupBy(versions, ({ blob }) => blob).values()]
  let missing = 0
  let isFull = false
  // A full organisation reads no further, so that each change anywhere does not have all of it read again.
  for (let start = 0; start < byBlob.length && !isFull; start += maxTextsAtOnce) {
    const part = byBlob.slice(start, start + maxTextsAtOnce).flat()
    const blobs = [...new Set(part.map(({ blob }) => blob))]
    const { texts, tooLarge } = await repositories.texts(repositoryId, blobs, maxDeliveredBytes)
    const read = part.flatMap((version) => {
      const text = texts.get(version.blob) ?? (tooLarge.includes(version.blob) ? null : undefined)
      return text === undefined ? [] : [{ ...version, text }]
    })
    isFull = read.length > 0 && (await liveTexts.replace(organisationId, read, deliveredBytes)) > 0
    missing += part.length - read.length
  }
  await liveTexts.recordError(organisationId, repositoryId, isFull ? textsFull(deliveredBytes).message : null)
  return missing
}

/** What an organisation is told whose texts do not fit. */
export function textsFull(maxBytes: number): DomainError {
  return new DomainError(
    'conflict',
    `The texts that applications get may have ${maxBytes} bytes in one organisation, an eighth of REPOSITORY_SIZE_LIMIT. Prompts whose ` +
      'text does not fit keep the one before, or have none. Exclude prompts from text delivery, or make their files smaller.',
  )
}

interface LivePart {
  version: LiveVersionOfPrompt
  repositoryId: number
}

/** The live version of each prompt that has one, by the ID of the prompt. Null if it deleted the file. */
export async function liveVersions(
  stores: Omit<LiveTextStores, 'prompts' | 'liveTexts'>,
  organisationId: number,
  prompts: Prompt[],
  now: Instant,
): Promise<Map<number, LivePart | null>> {
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
  const live = new Map<number, LivePart | null>()
  for (const [promptId, entryId] of entryIds) {
    const entry = entryOf.get(entryId)
    if (entry === undefined || entry.repositoryId === null) continue
    const { commitSha, afterBlob: blob, repositoryId } = entry
    live.set(promptId, blob === null ? null : { version: { promptId, entryId, commitSha, blob }, repositoryId })
  }
  return live
}

function liveEntry(changes: LandedChange[], segments: LineSegment[], now: Instant): number | undefined {
  return liveHistory(timedChanges(changes, now), segments).at(now)[0]?.change.id
}
