import { type LiveVersionOfPrompt, liveVersions } from '../delivery/live-text.ts'
import { type DeliverySettings, isDelivered } from '../delivery/settings.ts'
import { stateOf } from '../history/pull.ts'
import type { Prompt } from '../prompt.ts'
import type { Store } from '../store.ts'
import { hour, type Instant, minute } from '../time.ts'
import { countsOf, countVote, lookAt, startProgress } from './count-votes.ts'
import type {
  StoredProgress,
  Trial,
  TrialChange,
  TrialEnding,
  TrialEvent,
  TrialProgress,
  VotePosition,
} from './trial.ts'

type TrialStores = Pick<
  Store,
  'trials' | 'prompts' | 'liveTexts' | 'repositories' | 'facts' | 'history' | 'deployments'
>

// Trials are decided long before. Bounds the rows that are kept for one.
const maxVoters = 100_000
// Bounds the memory and the time of a look. A voter with more votes than this delays the judging of that trial only.
const pageSize = 2_000
const maxPages = 10
// A transaction that started earlier may be committed later.
const overlapMs = 10_000
// Votes may be sent days after they were cast.
const searchEveryMs = hour

/** What all trials of an organisation are compared with. */
interface LiveSituation {
  settings: DeliverySettings
  live: Map<number, LiveVersionOfPrompt>
}

export async function readSituation({ liveTexts }: TrialStores, organisationId: number): Promise<LiveSituation> {
  const [settings, versions] = await Promise.all([
    liveTexts.settings(organisationId),
    liveTexts.versions(organisationId),
  ])
  return { settings, live: new Map(versions.map((version) => [version.promptId, version])) }
}

/** Looks at a trial: counts its new votes, ends it if it is over or worse, and raises its share if a ramp is due. */
export async function judgeTrial(
  stores: TrialStores,
  situation: LiveSituation,
  trial: Trial,
  now: Instant,
): Promise<Trial | null> {
  const prompts = await stores.prompts.withIds(
    trial.organisationId,
    trial.prompts.map(({ prompt }) => prompt.id),
  )
  const ending = await endingOf(stores, situation, trial, prompts, now)
  if (ending !== null) return stores.trials.change(trial, { ending }, ['stopped'], now)
  const started = (await stores.trials.progress(trial)) ?? (await start(stores, trial))
  const { pinned, isNew } = await pinControls(stores, situation, trial)
  if (isNew) started.progress.late ??= { at: now - minute, id: 0 }
  // Another process has counted meanwhile: the next look continues with its counts.
  const counted = await countVotes(stores, pinned, started, isNew, now)
  if (counted === null) return trial
  const counts = countsOf(trial, counted, await stores.trials.exposures(trial))
  // Without new votes and exposures there is nothing new to say, and the range takes some milliseconds.
  const { arms, mismatch } = trial.findings ?? {}
  if (JSON.stringify(counts) === JSON.stringify({ arms, mismatch })) return trial
  return conclude(stores, trial, lookAt(trial, counted, counts, now), now)
}

async function conclude(
  { trials }: TrialStores,
  trial: Trial,
  { findings, verdict, votesAtShare }: ReturnType<typeof lookAt>,
  now: Instant,
): Promise<Trial | null> {
  const mismatch = findings.mismatch !== null
  const change: TrialChange = { findings, mismatch }
  const events: TrialEvent[] = []
  if (mismatch && !trial.mismatch) events.push('mismatch')
  // What was better can still become worse, and is stopped then too.
  const isNew = trial.verdict === null || (trial.verdict === 'better' && verdict === 'worse')
  if (!mismatch && verdict !== 'undecided' && isNew) {
    change.verdict = verdict
    events.push(verdict)
  }
  if (verdict === 'worse') {
    change.ending = 'worse'
    // A mismatch takes the verdict, but must not keep users on a candidate that they rate lower.
    if (mismatch) events.push('stopped')
  }
  const next = nextShare(trial, votesAtShare)
  if (next !== null && !mismatch && verdict !== 'worse') change.share = next
  return trials.change(trial, change, events, now)
}

/** Why the trial is over; null if it is not. */
async function endingOf(
  stores: TrialStores,
  { settings, live }: LiveSituation,
  trial: Trial,
  prompts: Prompt[],
  now: Instant,
): Promise<TrialEnding | null> {
  const isGone = prompts.length < trial.prompts.length || prompts.some((prompt) => !isDelivered(settings, prompt))
  if (isGone || !settings.enabled) return 'gone'
  const repository = await stores.repositories.find(trial.repositoryId)
  if (repository === null || repository.disconnectedAt !== null) return 'gone'
  if (trial.prNumber !== null) {
    const [pull] = await stores.facts.pulls(repository, [trial.prNumber])
    const state = pull === undefined ? 'open' : stateOf(pull)
    if (state !== 'open') return state === 'merged' ? 'live' : 'closed'
  }
  // Without a text, what git showed last decides, not how long it is missing: after a restore, git may not respond for days.
  const lost = prompts.filter(({ id, repositoryId }) => repositoryId !== null && !live.has(id))
  const known = lost.length === 0 ? null : await liveVersions(stores, trial.organisationId, lost, now)
  if (lost.some(({ id }) => known?.get(id) === null)) return 'gone'
  return trial.prompts.every(({ prompt, blob }) => live.get(prompt.id)?.blob === blob) ? 'live' : null
}

/** The live version may change while the trial runs. Votes name the commit that was delivered. */
async function pinControls(
  { trials }: TrialStores,
  { live }: LiveSituation,
  trial: Trial,
): Promise<{ pinned: Trial; isNew: boolean }> {
  const added = new Map<number, string>()
  const prompts = trial.prompts.map((part) => {
    const commit = live.get(part.prompt.id)?.commitSha
    if (commit === undefined || commit === trial.commitSha || part.controls.includes(commit)) return part
    added.set(part.prompt.id, commit)
    return { ...part, controls: [...part.controls, commit] }
  })
  const pinned = { ...trial, prompts }
  if (added.size > 0) await trials.pinControls(pinned, [...added.keys()])
  return { pinned, isNew: added.size > 0 }
}

async function start({ trials }: TrialStores, trial: Trial): Promise<StoredProgress> {
  const progress = startProgress(trial, await trials.votesBefore(trial))
  await trials.startProgress(trial, progress)
  return { revision: 0, progress }
}

/** Counts the votes since the last look. Null if another process did. */
async function countVotes(
  { trials }: TrialStores,
  trial: Trial,
  { revision, progress }: StoredProgress,
  isChanged: boolean,
  now: Instant,
): Promise<TrialProgress | null> {
  let saved = { revision, isUnsaved: isChanged }
  const voters: string[] = []

  /** Counts a page. Returns its last vote, and whether there are no more. */
  async function count(after: VotePosition): Promise<{ last: VotePosition; isEnd: boolean }> {
    const votes = await trials.votes(trial, after, pageSize)
    const firsts = new Map(votes.toReversed().map((vote) => [vote.voter, vote]))
    const known = firsts.size === 0 ? new Set<string>() : await trials.counted(trial, [...firsts.keys()])
    const room = maxVoters - progress.arms.control.voters - progress.arms.candidate.voters
    const fresh = votes.filter((vote) => firsts.get(vote.voter) === vote && !known.has(vote.voter)).slice(0, room)
    for (const vote of fresh) countVote(progress, trial, vote, now)
    voters.push(...fresh.map(({ voter }) => voter))
    const { at, id } = votes.at(-1) ?? after
    return { last: { at, id }, isEnd: votes.length < pageSize }
  }

  async function save(): Promise<boolean> {
    const isSaved = await trials.saveProgress(trial, { revision: saved.revision, progress }, voters.splice(0))
    saved = { revision: saved.revision + 1, isUnsaved: false }
    return isSaved
  }

  const isFull = () => progress.arms.control.voters + progress.arms.candidate.voters >= maxVoters
  for (let page = 0; page < maxPages && !isFull(); page++) {
    const before = { ...progress.read, isAtEnd: progress.isAtEnd }
    const isOverlap = page === 0 && progress.isAtEnd
    const from = isOverlap ? { at: Math.max(trial.startedAt, progress.read.at - overlapMs), id: 0 } : progress.read
    const { last, isEnd } = await count(from)
    progress.isAtEnd = isEnd
    // Only votes from before may be left of those that are read twice.
    if (!isEnd || last.at >= progress.read.at) progress.read = last
    const isMoved = before.at !== progress.read.at || before.id !== progress.read.id || before.isAtEnd !== isEnd
    if ((voters.length > 0 || isMoved) && !(await save())) return null
    if (isEnd) break
  }
  if (progress.late === null && now - progress.searchedAt >= searchEveryMs)
    progress.late = { at: trial.startedAt, id: 0 }
  if (progress.late !== null && !isFull()) {
    const { last, isEnd } = await count(progress.late)
    progress.late = isEnd ? null : last
    if (isEnd) progress.searchedAt = now
    saved.isUnsaved = true
  }
  if (saved.isUnsaved && !(await save())) return null
  return progress
}

function nextShare({ state, ramp, share }: Trial, votesAtShare: number): number | null {
  if (state !== 'running' || ramp === null || votesAtShare < ramp.votes) return null
  return ramp.shares.find((next) => next > share) ?? null
}
