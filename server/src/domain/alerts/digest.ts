import type { HistoryEntry } from '../history/entry.ts'
import { type JudgedChange, judgeChanges } from '../impact/judged-changes.ts'
import { liveFrom, liveUntil } from '../impact/live/live-window.ts'
import { asOf } from '../impact/live/moment.ts'
import type { Drift } from '../impact/model/drift.ts'
import { createLearnedDrift } from '../impact/model/learned-drift.ts'
import { rateOf, verdictOf } from '../impact/model/verdict.ts'
import { voteHistoryOf } from '../impact/reading/vote-history.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import type { ListedRegression } from '../regressions/regression.ts'
import { countOf, scaled, type Tally } from '../signals/tally.ts'
import type { Store } from '../store.ts'
import { day, type Instant, nextTurn } from '../time.ts'
import type { DigestChange, DigestMessage, HurtChange, UndecidedChange } from './message.ts'
import type { NoticedPrompt } from './notice.ts'

export type DigestStores = Pick<
  Store,
  'history' | 'signals' | 'deployments' | 'segments' | 'shifts' | 'telemetry' | 'drift' | 'prompts' | 'regressions'
>

/** A week of all prompts of an organisation. */
export interface Digest extends Pick<DigestMessage, 'from' | 'until'> {
  helped: OfPrompt<DigestChange>[]
  hurt: OfPrompt<HurtChange>[]
  undecided: OfPrompt<UndecidedChange>[]
}

type OfPrompt<Change> = Change & { prompt: NoticedPrompt }

// Verdicts on older changes hardly ever change.
const maxAgeMs = 28 * day
// A change can be deployed weeks after it was merged.
const maxMergeAgeMs = 60 * day
// So that the digest of a large organisation takes seconds. Those with the newest changes come first.
const maxPrompts = 200
const maxChangesOfPrompt = 10
const maxRegressions = 100
const maxListed = 20

/**
 * What became of changes in the week that ends at `until`. Verdicts are as of the end of the week and of its start, so nothing has to be
 * remembered from one digest to the next.
 */
export async function collectDigest(stores: DigestStores, organisationId: number, until: Instant): Promise<Digest> {
  const from = until - 7 * day
  const digest: Digest = {
    from,
    until,
    helped: [],
    hurt: await hurtChanges(stores, organisationId, from, until),
    undecided: [],
  }
  const learned = createLearnedDrift(stores.drift, () => until)
  for (const prompt of await stores.prompts.changedSince(organisationId, until - maxMergeAgeMs, maxPrompts)) {
    await nextTurn()
    await addPrompt(stores, prompt, await learned.of(prompt), digest)
  }
  return digest
}

async function addPrompt(stores: DigestStores, prompt: Prompt, drift: Readonly<Drift>, digest: Digest): Promise<void> {
  const { from, until, helped, undecided } = digest
  const judged = await judgedAt(stores, prompt, drift, until)
  const better = judged.filter(({ verdict }) => verdict === 'better')
  const isKnown = better.some(({ period }) => liveFrom(period) < from)
  const known = new Set(isKnown ? (await judgedAt(stores, prompt, drift, from)).filter(isBetter).map(changeId) : [])
  const open = judged.filter(
    ({ period, verdict, before, after }) =>
      verdict === 'too_little_data' && liveUntil(period) === null && countOf(before) + countOf(after) > 0,
  )
  const news = better.filter((change) => !known.has(changeId(change)))
  const entries = await stores.history.entries(prompt.organisationId, [...news, ...open].map(changeId))
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  const told = (change: JudgedChange) => {
    const entry = entryOf.get(changeId(change))
    return entry === undefined ? [] : [toldChange(prompt, entry, change)]
  }
  helped.push(...news.flatMap(told))
  for (const change of open) {
    const daysLeft = daysToVerdict(change, until - liveFrom(change.period))
    undecided.push(...told(change).map((each) => ({ ...each, daysLeft })))
  }
}

/** The changes of the last weeks that another one can be compared with, as the votes were by then. */
async function judgedAt(
  stores: DigestStores,
  prompt: Prompt,
  drift: Readonly<Drift>,
  at: Instant,
): Promise<JudgedChange[]> {
  const history = await voteHistoryOf(stores, prompt, asOf(at))
  const recent = history.periods.filter((period) => period.earlier !== null && liveFrom(period) >= at - maxAgeMs)
  return recent.length === 0 ? [] : judgeChanges(stores, history, recent.slice(-maxChangesOfPrompt), drift)
}

const isBetter = ({ verdict }: JudgedChange): boolean => verdict === 'better'
const changeId = ({ period }: JudgedChange): number => period.change.id

function toldChange(prompt: Prompt, entry: HistoryEntry, judged: JudgedChange): OfPrompt<DigestChange> {
  const { period, before, after, difference } = judged
  const rate = (tally: Tally) => ({ rate: rateOf(tally), signals: countOf(tally) })
  return {
    ...named(prompt, entry),
    liveFrom: liveFrom(period),
    before: rate(before),
    after: rate(after),
    interval: difference?.interval ?? null,
  }
}

function named({ publicId, name, path }: NoticedPrompt, { id, commitSha, prNumber, user }: HistoryEntry) {
  return { prompt: { publicId, name, path }, entryId: id, commitSha, prNumber, author: user.name }
}

async function hurtChanges(
  { regressions, prompts }: DigestStores,
  organisationId: number,
  from: Instant,
  until: Instant,
): Promise<OfPrompt<HurtChange>[]> {
  const newest = (state: 'open' | null) =>
    regressions.page(
      organisationId,
      { state, promptIds: null },
      { by: 'opened_at', descending: true },
      { page: '1', limit: maxRegressions },
    )
  const [all, open] = await Promise.all([newest(null), newest('open')])
  const isNews = ({ openedAt, state }: ListedRegression) =>
    openedAt >= from && openedAt < until && state !== 'withdrawn'
  const found = new Map([...all.regressions.filter(isNews), ...open.regressions].map((each) => [each.id, each]))
  const ids = [...new Set([...found.values()].map(({ promptId }) => promptId))]
  const promptOf = new Map((await prompts.withIds(organisationId, ids)).map((prompt) => [prompt.id, prompt]))
  return [...found.values()].flatMap((regression) => {
    const prompt = promptOf.get(regression.promptId)
    return prompt === undefined ? [] : [toldRegression(prompt, regression)]
  })
}

function toldRegression(prompt: Prompt, regression: ListedRegression): OfPrompt<HurtChange> {
  const { id, change, state, openedAt, rateBefore, rateAfter, signalsBefore, signalsAfter, interval } = regression
  return {
    ...named(prompt, change),
    liveFrom: regression.liveFrom ?? change.createdAt,
    before: { rate: rateBefore, signals: signalsBefore ?? 0 },
    after: { rate: rateAfter, signals: signalsAfter ?? 0 },
    interval,
    regressionId: id,
    state,
    openedAt,
  }
}

/** The part of it that an alert gets: prompts that match its glob. */
export function composeDigest(
  { from, until, ...all }: Digest,
  { prompts: glob }: { prompts: string },
  organisation: DigestMessage['organisation'],
  at: Instant,
): DigestMessage {
  const heard = <Change extends OfPrompt<DigestChange>>(changes: readonly Change[]) =>
    changes.filter(({ prompt }) => matchesPromptGlob(glob, prompt))
  const [helped, hurt, undecided] = [heard(all.helped), heard(all.hurt), heard(all.undecided)]
  return {
    event: 'digest.weekly',
    at,
    organisation,
    from,
    until,
    helped: listed(helped, (change) => -gain(change)),
    hurt: listed(hurt, gain),
    // Those that will be decided first.
    undecided: listed(undecided, ({ daysLeft }) => daysLeft ?? Number.POSITIVE_INFINITY),
    counts: { helped: helped.length, hurt: hurt.length, undecided: undecided.length },
  }
}

function listed<Change extends OfPrompt<DigestChange>>(changes: Change[], key: (change: Change) => number): Change[] {
  const first = changes.toSorted((a, b) => key(a) - key(b) || a.entryId - b.entryId).slice(0, maxListed)
  return first.map((change) => {
    const { publicId, name } = change.prompt
    return { ...change, prompt: { publicId, name } } as Change
  })
}

function gain({ before, after }: DigestChange): number {
  return (after.rate ?? 0) - (before.rate ?? 0)
}

const maxDays = 90
// The rate of a handful of votes says little, so it counts together with as many votes as a comparison needs at the rate from before.
const priorVotes = 20

/**
 * About how many more days of votes a change with too little data needs at least, if they come as often and are about as positive as
 * since it went live. Null without votes on it, and if 90 days are not enough, such as with too few votes before the change. Votes that
 * drift count for less the longer one waits, so it can take longer.
 */
function daysToVerdict(
  { before, after, effectiveSignals }: Pick<JudgedChange, 'before' | 'after' | 'effectiveSignals'>,
  liveForMs: number,
): number | null {
  const votes = countOf(after)
  const rateBefore = rateOf(before)
  if (votes === 0 || rateBefore === null) return null
  const share = effectiveSignals / (countOf(before) + votes)
  const rate = (after.positive + priorVotes * rateBefore) / (votes + priorVotes)
  const perDay = (votes * day) / Math.max(day, liveForMs)
  for (let days = 1; days <= maxDays; days++) {
    const later = {
      positive: after.positive + rate * perDay * days,
      negative: after.negative + (1 - rate) * perDay * days,
    }
    if (verdictOf(scaled(before, share), scaled(later, share)) !== 'too_little_data') return days
  }
  return null
}
