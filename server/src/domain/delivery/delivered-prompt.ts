import { hash } from 'node:crypto'
import type { Access } from '../access/api-key.ts'
import { DomainError } from '../errors.ts'
import { matchesPromptGlob, type Prompt, type PromptStore } from '../prompt.ts'
import { createTurns } from '../time.ts'
import type { ServedTrial, TrialStore } from '../trials/trial.ts'
import type { LiveTextStore, StoredVersion } from './live-text.ts'
import { deliveryIsOff, isDelivered } from './settings.ts'

/** A prompt with the text that applications get, and the candidate's while a trial runs. */
export interface DeliveredPrompt {
  prompt: Prompt
  commitSha: string
  text: string
  trial: (ServedTrial & { text: string }) | null
}

/** Which prompts a document has, without their texts. */
export interface DeliveryIndex {
  /** By name. */
  prompts: IndexedPrompt[]
  /** Changes whenever the document would. */
  tag: string
  /** What the texts take, candidates included. */
  bytes: number
}

interface IndexedPrompt {
  prompt: Prompt
  version: StoredVersion & { size: number }
  trial: ServedTrial | null
}

interface DeliveryStores {
  prompts: Pick<PromptStore, 'list'>
  liveTexts: Pick<LiveTextStore, 'settings' | 'versions' | 'texts'>
  trials: Pick<TrialStore, 'served' | 'texts'>
}

/** As JSON, candidates of trials included. A key may have two of them unread (http/admission/fair-queue.ts). */
export const maxDocumentBytes = 8 * 1024 * 1024
// What building a document holds in memory of its texts.
const maxPartBytes = 1024 * 1024

export function documentTooLarge(): DomainError {
  return new DomainError(
    'conflict',
    'The texts of these prompts exceed 8 MiB. Ask for some of them with the query parameter prompts.',
  )
}

/** What a key gets of the prompts that match the glob. */
export async function deliveryIndex(
  { prompts, liveTexts, trials }: DeliveryStores,
  { organisationId, prompts: keyGlob }: Pick<Access, 'organisationId' | 'prompts'>,
  glob: string | null,
): Promise<DeliveryIndex> {
  const settings = await liveTexts.settings(organisationId)
  if (!settings.enabled) throw deliveryIsOff()
  const [all, stored, served] = await Promise.all([
    prompts.list(organisationId),
    liveTexts.versions(organisationId),
    trials.served(organisationId),
  ])
  const takeTurns = createTurns()
  const trialOf = new Map(served.map((trial) => [trial.promptId, trial]))
  const readable = stored.filter((version): version is IndexedPrompt['version'] => version.size !== null)
  const versions = new Map(readable.map((version) => [version.promptId, version]))
  const found: IndexedPrompt[] = []
  for (const prompt of all) {
    const version = versions.get(prompt.id)
    if (version === undefined) continue
    const isWanted =
      matchesPromptGlob(keyGlob, prompt) && matchesPromptGlob(glob, prompt) && isDelivered(settings, prompt)
    if (isWanted) found.push({ prompt, version, trial: trialOf.get(prompt.id) ?? null })
    await takeTurns()
  }
  found.sort((a, b) => (a.prompt.name < b.prompt.name ? -1 : 1))
  const parts = found.map(({ prompt, version, trial }) => [
    prompt.publicId,
    prompt.name,
    prompt.path,
    version.entryId,
    version.blob,
    trial && [trial.id, trial.share],
  ])
  const tag = hash('sha256', JSON.stringify(parts), 'base64url')
  return { prompts: found, tag, bytes: found.reduce((sum, each) => sum + sizeOf(each), 0) }
}

function sizeOf({ version, trial }: IndexedPrompt): number {
  return version.size + (trial?.size ?? 0)
}

/** The prompts of an index with their texts. Reads a part of them at a time. */
export async function* deliveredPrompts(
  stores: DeliveryStores,
  organisationId: number,
  { prompts }: DeliveryIndex,
): AsyncGenerator<DeliveredPrompt> {
  let part: IndexedPrompt[] = []
  let bytes = 0
  for (const each of prompts) {
    part.push(each)
    bytes += sizeOf(each)
    if (bytes < maxPartBytes) continue
    yield* await withTexts(stores, organisationId, part)
    part = []
    bytes = 0
  }
  if (part.length > 0) yield* await withTexts(stores, organisationId, part)
}

async function withTexts(
  { liveTexts, trials }: DeliveryStores,
  organisationId: number,
  prompts: IndexedPrompt[],
): Promise<DeliveredPrompt[]> {
  const ids = prompts.map(({ prompt }) => prompt.id)
  const texts = new Map((await liveTexts.texts(organisationId, ids)).map((text) => [text.promptId, text]))
  const trialIds = [...new Set(prompts.flatMap(({ trial }) => trial?.id ?? []))]
  const candidates = trialIds.length === 0 ? [] : await trials.texts(organisationId, trialIds, ids)
  const candidateOf = new Map(candidates.map(({ trialId, promptId, text }) => [`${trialId} ${promptId}`, text]))
  return prompts.flatMap(({ prompt, trial }) => {
    const found = texts.get(prompt.id)
    if (found === undefined || found.text === null) return []
    const text = trial === null ? undefined : candidateOf.get(`${trial.id} ${prompt.id}`)
    const served = trial === null || text === undefined ? null : { ...trial, text }
    return [{ prompt, commitSha: found.commitSha, text: found.text, trial: served }]
  })
}
