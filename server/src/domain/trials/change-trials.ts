import type { Access } from '../access/api-key.ts'
import type { Impact } from '../impact/impact.ts'
import type { Moment } from '../impact/live/moment.ts'
import type { TimelineEntry } from '../impact/timeline.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import type { Store } from '../store.ts'
import { explainTrial } from './explain-trial.ts'
import type { ChangeOfTrial, Trial } from './trial.ts'

type Reader = Pick<Access, 'organisationId' | 'prompts' | 'shared'>

/** The last trial of each change that the reader may see. Links that were shared show none. */
export async function trialsOfChanges(
  { trials, prompts }: Pick<Store, 'trials' | 'prompts'>,
  { organisationId, prompts: glob, shared }: Reader,
  prompt: Prompt,
  changes: readonly ChangeOfTrial[],
): Promise<(Trial | null)[]> {
  const found = shared === undefined && changes.length > 0 ? await trials.ofChanges(prompt, changes) : []
  const ids = [...new Set(found.flatMap((trial) => trial.prompts.map(({ prompt }) => prompt.id)))]
  const named = glob === null || ids.length === 0 ? [] : await prompts.withIds(organisationId, ids)
  const visible = new Set(named.filter((each) => matchesPromptGlob(glob, each)).map(({ id }) => id))
  const readable = found.filter((trial) => glob === null || trial.prompts.every(({ prompt }) => visible.has(prompt.id)))
  return changes.map((change) => readable.find((trial) => isTrialOf(trial, prompt, change)) ?? null)
}

function isTrialOf(trial: Trial, { repositoryId }: Prompt, { commitSha, prNumber }: ChangeOfTrial): boolean {
  if (trial.commitSha === commitSha) return true
  return prNumber !== null && trial.prNumber === prNumber && trial.repositoryId === repositoryId
}

/** Adds to the verdict on each change what its trial found, which is stronger evidence. */
export async function withTrials(
  stores: Pick<Store, 'trials' | 'prompts'>,
  reader: Reader,
  prompt: Prompt,
  impacts: readonly Impact[],
): Promise<Impact[]> {
  const trials = await trialsOfChanges(
    stores,
    reader,
    prompt,
    impacts.map(({ entry }) => entry),
  )
  return impacts.map((impact, i) => {
    const trial = trials[i] ?? null
    return trial === null ? impact : { ...impact, trial, explanation: `${impact.explanation} ${explainTrial(trial)}` }
  })
}

/** The same for entries of the timeline. What was known in the past has no trials. */
export async function timelineWithTrials(
  stores: Pick<Store, 'trials' | 'prompts'>,
  reader: Reader,
  prompt: Prompt,
  { isPast }: Moment,
  entries: TimelineEntry[],
): Promise<TimelineEntry[]> {
  if (isPast) return entries
  const impacts = entries.flatMap(({ impact }) => impact ?? [])
  const tried = new Map((await withTrials(stores, reader, prompt, impacts)).map((impact) => [impact.entry.id, impact]))
  return entries.map((entry) => ({ ...entry, impact: tried.get(entry.entry.id) ?? entry.impact }))
}
