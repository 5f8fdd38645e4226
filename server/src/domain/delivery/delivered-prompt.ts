import { hash } from 'node:crypto'
import type { Access } from '../access/api-key.ts'
import { DomainError } from '../errors.ts'
import { matchesPromptGlob, type Prompt, type PromptStore } from '../prompt.ts'
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
  prompts: { prompt: Prompt; version: StoredVersion; trial: ServedTrial | null }[]
  /** Changes whenever the document would. */
  tag: string
}

export interface DeliveryStores {
  prompts: Pick<PromptStore, 'list'>
  liveTexts: Pick<LiveTextStore, 'settings' | 'versions' | 'texts'>
  trials: Pick<TrialStore, 'served' | 'texts'>
}

// A response holds it several times: as strings, as JSON, as bytes and compressed.
const maxDocumentLength = 16 * 1024 * 1024

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
  const trialOf = new Map(served.map((trial) => [trial.promptId, trial]))
  const versions = new Map(stored.map((version) => [version.promptId, version]))
  const found = all.flatMap((prompt) => {
    const version = versions.get(prompt.id)
    const isWanted =
      matchesPromptGlob(keyGlob, prompt) && matchesPromptGlob(glob, prompt) && isDelivered(settings, prompt)
    return version === undefined || !isWanted ? [] : [{ prompt, version, trial: trialOf.get(prompt.id) ?? null }]
  })
  found.sort((a, b) => (a.prompt.name < b.prompt.name ? -1 : 1))
  if (found.reduce((sum, { version }) => sum + version.size, 0) > maxDocumentLength) {
    throw new DomainError(
      'conflict',
      'The texts of these prompts exceed 16 MiB. Ask for some of them with the query parameter prompts.',
    )
  }
  const parts = found.map(({ prompt, version, trial }) => [
    prompt.publicId,
    prompt.name,
    prompt.path,
    version.entryId,
    version.blob,
    trial && [trial.id, trial.share],
  ])
  return { prompts: found, tag: hash('sha256', JSON.stringify(parts), 'base64url') }
}

/** The texts of the prompts in an index. */
export async function deliveredPrompts(
  { liveTexts, trials }: DeliveryStores,
  organisationId: number,
  { prompts }: DeliveryIndex,
): Promise<DeliveredPrompt[]> {
  const ids = prompts.map(({ prompt }) => prompt.id)
  const texts = new Map((await liveTexts.texts(organisationId, ids)).map((text) => [text.promptId, text]))
  const trialIds = [...new Set(prompts.flatMap(({ trial }) => trial?.id ?? []))]
  const candidates = trialIds.length === 0 ? [] : await trials.texts(organisationId, trialIds)
  const candidateOf = new Map(candidates.map(({ trialId, promptId, text }) => [`${trialId} ${promptId}`, text]))
  return prompts.flatMap(({ prompt, trial }) => {
    const found = texts.get(prompt.id)
    if (found === undefined) return []
    const text = trial === null ? undefined : candidateOf.get(`${trial.id} ${prompt.id}`)
    const served = trial === null || text === undefined ? null : { ...trial, text }
    return [{ prompt, commitSha: found.commitSha, text: found.text, trial: served }]
  })
}
