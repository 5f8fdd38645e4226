import { DomainError, invalid } from '../domain/errors.ts'
import type { EntryDetails, HistoryEntry } from '../domain/history/entry.ts'
import type { Impact, RatedTally } from '../domain/impact/impact.ts'
import { versionsOf } from '../domain/impact/live/versions.ts'
import { matchesPromptGlob, type Prompt } from '../domain/prompt.ts'
import type { Regression } from '../domain/regressions/regression.ts'
import { explainShift } from '../domain/shifts/explain-shift.ts'
import type { ListedShift } from '../domain/shifts/shift.ts'
import type { Store } from '../domain/store.ts'
import { isoTime, timeOrNull } from '../domain/time.ts'
import { promptArgument } from './prompt.ts'
import { quoted, quotedTitle } from './quoting.ts'
import type { ToolContext } from './tool.ts'

export const changeSchema = {
  type: 'string',
  description: 'Number of a change, or with prompt: commit hash or pull request such as #42',
} as const

const commit = /^[0-9a-f]{7,64}$/
const pull = /^#([1-9]\d{0,8})$/
const number = /^[1-9]\d{0,14}$/

/** The change that an agent names, of a prompt that its key may read. */
export async function changeArgument(
  context: ToolContext,
  change: string,
  promptReference: string | undefined,
): Promise<{ prompt: Prompt; entry: EntryDetails }> {
  const reference = change.toLowerCase()
  const prompt = promptReference === undefined ? null : await promptArgument(context, promptReference)
  const numbered = number.test(reference) ? await changeNumbered(context, Number(reference), prompt) : null
  if (numbered !== null) return numbered
  if (!commit.test(reference) && !pull.test(reference)) {
    if (number.test(reference)) throw unknownChange()
    throw invalid(
      'change must be the number of a change, a commit hash of at least 7 digits, or a pull request such as #42',
    )
  }
  if (prompt === null) throw invalid('prompt is required to find a change by its commit or pull request')
  const entry = await changeNamed(context, prompt, reference)
  if (entry === null) throw unknownChange()
  return { prompt, entry }
}

async function changeNumbered({ store, access }: ToolContext, id: number, prompt: Prompt | null) {
  const { organisationId, prompts: glob } = access
  const promptId = await store.history.promptIdOf(organisationId, id)
  if (promptId === null || (prompt !== null && prompt.id !== promptId)) return null
  const [owner] = prompt === null ? await store.prompts.withIds(organisationId, [promptId]) : [prompt]
  if (owner === undefined || !matchesPromptGlob(glob, owner)) return null
  const entry = await store.history.find(owner, id)
  return entry && { prompt: owner, entry }
}

const searched = { page: '1', limit: 100 } as const

/** The newest change with this commit or pull request: one that went live, otherwise one of the newest others. */
async function changeNamed({ store, now }: ToolContext, prompt: Prompt, name: string): Promise<EntryDetails | null> {
  const prNumber = Number(pull.exec(name)?.[1])
  const isNamed = (entry: EntryDetails) => entry.prNumber === prNumber || entry.commitSha.startsWith(name)
  const { versions } = await versionsOf(store, prompt, name, searched, now)
  // The search also finds messages that mention the commit.
  const live = versions.find(({ entry }) => isNamed(entry))
  if (live !== undefined) return live.entry
  const filter = { actions: null, since: null, until: null, pulls: 'outcome' } as const
  const { entries } = await store.history.timeline(prompt, filter, searched)
  return entries.find(isNamed) ?? null
}

/** The regression of a change, in whatever state. */
export async function regressionOf(
  { regressions }: Pick<Store, 'regressions'>,
  prompt: Prompt,
  entry: EntryDetails,
): Promise<Regression> {
  const found = (await regressions.ofPrompt(prompt)).find(({ entryId }) => entryId === entry.id)
  if (found === undefined) {
    throw new DomainError('not_found', 'This change has no regression. open_regressions lists them.')
  }
  return found
}

function unknownChange(): DomainError {
  return new DomainError('not_found', 'There is no such change. what_happened lists the changes of a prompt.')
}

/** A change in a list. */
export function toChangeBody(entry: HistoryEntry & { message?: string | null }) {
  return {
    change: entry.id,
    action: entry.action,
    at: isoTime(entry.createdAt),
    quoted_author: quoted(entry.user.name, 100),
    ...(entry.message !== undefined && { quoted_title: quotedTitle(entry.message) }),
    commit: entry.commitSha,
    ...(entry.prNumber !== null && { pull_request: entry.prNumber }),
  }
}

/** A first version is not one with too little data: no number of votes would tell. */
export const noVerdict = 'first_version'

/** The effect of a change that went live. */
export function toEffectBody({ before, after, difference, interval, ...impact }: Impact) {
  return {
    verdict: impact.isFirst ? noVerdict : impact.verdict,
    live_from: isoTime(impact.liveFrom),
    live_until: timeOrNull(impact.liveUntil),
    before: toVotesBody(before),
    after: toVotesBody(after),
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
  }
}

export function toVotesBody({ positive, negative, rate }: RatedTally) {
  return { positive, negative, rate: rate === null ? null : rounded(rate) }
}

/** A tenth of a percent. Models read more digits as if they meant something. */
export function rounded(rate: number): number {
  return Math.round(rate * 1e3) / 1e3
}

export function toShiftBody(shift: ListedShift) {
  const { at, rateBefore, rateAfter, entryId, sharedWith, candidates, candidateChanges } = shift
  const isExplained = entryId !== null && candidates === null
  return {
    at: isoTime(at),
    rate_before: rounded(rateBefore),
    rate_after: rounded(rateAfter),
    // As in the API, a cause that other prompts share comes first.
    cause: sharedWith !== null ? `${sharedWith} other prompts moved too` : isExplained ? 'change' : 'unknown',
    ...(sharedWith === null && isExplained && { change: entryId }),
    ...(candidateChanges.length > 0 && {
      candidates: candidateChanges.map(({ change, share }) => ({ change: change.id, share_of_votes: rounded(share) })),
    }),
    explanation: explainShift(shift),
  }
}
