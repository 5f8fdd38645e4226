import type {
  DigestChange,
  DigestMessage,
  DigestSection,
  LimitMessage,
  Message,
  RegressionMessage,
  RepositoryMessage,
  ShiftMessage,
  ToldPrompt,
  TrialMessage,
} from '../domain/alerts/message.ts'
import type { HistoryEntry } from '../domain/history/entry.ts'
import { percent } from '../domain/impact/model/explanation.ts'
import { possibleCause } from '../domain/shifts/explain-shift.ts'
import { type Instant, isoTime, shortTime } from '../domain/time.ts'
import type { ArmFindings, TrialEnding, TrialFindings } from '../domain/trials/trial.ts'
import { line } from './line.ts'
import { type Link, linksOf, linkToChange, linkToDismiss, linkToShift, linkToUndo } from './links.ts'

/**
 * What a message says, once for all channels. Every text is one printable line without markup: each channel escapes it in its own
 * way.
 */
export interface Content {
  /** Says it all in a few words: the subject of an email, the summary of an incident. */
  title: string
  summary: string
  facts: Fact[]
  /** The largest loss first. */
  prompts: PromptContent[]
  /** Prompts that are not listed. */
  morePrompts: number
  /** The lists of a digest. */
  sections: Section[]
  links: Link[]
}

export interface Section {
  title: string
  items: { name: string; text: string; url: string }[]
  /** Items that are not listed. */
  more: number
}

interface Fact {
  label: string
  text: string
}

export interface PromptContent {
  name: string
  figures: string
  /** Why this change and not drift. */
  explanation: string
  comments: string[]
  links: Link[]
}

const maxPrompts = 10

/** The summary, unless it only repeats the figures of the prompt below it. */
export function leadOf({ summary, prompts }: Content): string[] {
  return prompts.some(({ figures }) => figures === summary) ? [] : [summary]
}

export function contentOf(message: Message, publicUrl: string): Content {
  const links = linksOf(message, publicUrl)
  const rest = { sections: [], links }
  if ('dedupKey' in message) return { ...regressionContent(message, publicUrl), ...rest }
  if ('trial' in message) return { ...trialContent(message), ...rest }
  switch (message.event) {
    case 'shift.unexplained':
      return { ...shiftContent(message, publicUrl), ...rest }
    case 'limit.near':
    case 'limit.reached':
      return { ...limitContent(message), ...rest }
    case 'repository.failing':
    case 'repository.recovered':
      return { ...repositoryContent(message), ...rest }
    case 'digest.weekly':
      return { ...digestContent(message, publicUrl), links }
    case 'alert.test':
      return {
        ...withoutPrompts,
        title: 'Test message from Promptledger',
        summary: `The alert “${line(message.alert, 80)}” of ${line(message.organisation.name, 80)} works.`,
        facts: [],
        ...rest,
      }
  }
}

const withoutPrompts = { prompts: [], morePrompts: 0 }

type ContentWithoutLinks = Omit<Content, 'sections' | 'links'>

function regressionContent(message: RegressionMessage, publicUrl: string): ContentWithoutLinks {
  const { event, change, title } = message
  // The prompts that the event is about come first: of one pull request, some may be repaired and others not.
  const concerned = concernedPrompts(message)
  const prompts = [...concerned, ...message.prompts.filter((told) => !concerned.includes(told))]
  const [worst] = prompts as [ToldPrompt]
  return {
    title: regressionTitle(message, concerned),
    summary:
      prompts.length === 1 ? figuresOf(worst) : `The largest loss: ${quoted(worst.prompt.name)}, ${figuresOf(worst)}`,
    facts: [
      { label: 'Change', text: line([reference(change), title ?? ''].join(' '), 200) },
      { label: 'Author', text: line(change.user.name, 80) },
      ...ownerFacts(worst, change),
      { label: 'Live since', text: timeOf(worst.liveFrom) },
      ...repairFacts(worst),
    ],
    prompts: prompts.slice(0, maxPrompts).map((told) => ({
      name: line(told.prompt.name, 80),
      figures: figuresOf(told) + (concerned.includes(told) ? '' : `, ${told.state}`),
      explanation: line(told.explanation, 1_000),
      comments: told.comments.map(({ text }) => line(text, 300)).filter((text) => text !== ''),
      links: [
        linkToChange(told, publicUrl),
        ...(event === 'regression.opened' && told.state === 'open'
          ? [linkToUndo(told, publicUrl), linkToDismiss(told, publicUrl)]
          : []),
      ],
    })),
    morePrompts: Math.max(0, prompts.length - maxPrompts),
  }
}

const states = {
  'regression.opened': 'open',
  'regression.repaired': 'repaired',
  'regression.withdrawn': 'withdrawn',
  'regression.dismissed': 'dismissed',
} as const

function concernedPrompts({ event, prompts }: RegressionMessage): ToldPrompt[] {
  const concerned = prompts.filter(({ state }) => state === states[event])
  return concerned.length > 0 ? concerned : prompts
}

function regressionTitle({ event, change }: RegressionMessage, prompts: ToldPrompt[]): string {
  const [worst] = prompts as [ToldPrompt]
  const isOne = prompts.length === 1
  const subject = isOne ? quoted(worst.prompt.name) : `${count(prompts.length)} prompts`
  const by = change.prNumber === null ? reference(change) : `pull request ${reference(change)}`
  switch (event) {
    case 'regression.opened':
      return `${subject} got worse with ${by}`
    case 'regression.repaired':
      if (worst.repairedBy === 'revert') return `Repaired: ${by}, which made ${subject} worse, is reverted`
      return `Repaired: ${subject} ${isOne ? 'is' : 'are'} as good as before ${by}`
    case 'regression.withdrawn':
      return `Taken back: the votes no longer show that ${by} made ${subject} worse`
    case 'regression.dismissed':
      return `Dismissed: ${subject} got worse with ${by}`
  }
}

/** The author is named already. */
function ownerFacts({ owner }: { owner?: string | null }, change: HistoryEntry | null): Fact[] {
  return owner == null || owner === change?.user.email ? [] : [{ label: 'Owner', text: line(owner, 80) }]
}

function repairFacts({ repairedEntry }: ToldPrompt): Fact[] {
  if (repairedEntry === null) return []
  return [{ label: 'Repaired by', text: `${reference(repairedEntry)} by ${line(repairedEntry.user.name, 80)}` }]
}

function shiftContent({ prompts, promptCount }: ShiftMessage, publicUrl: string): ContentWithoutLinks {
  const [first] = prompts
  const isOne = promptCount === 1
  const subject = isOne ? quoted(first?.prompt.name ?? '') : `${count(promptCount)} prompts`
  const candidates = isOne ? (first?.candidates ?? 0) : 0
  const ofOne =
    candidates === 0
      ? 'No change of the prompt explains it. Check what else changed: the model, the application, the users.'
      : 'The votes do not tell which change did it. Signals that name their version would.'
  return {
    title:
      candidates > 1
        ? `${subject} got worse with one of ${count(candidates)} changes`
        : candidates === 1
          ? `${subject} got worse, possibly with its last change`
          : `${subject} got worse without a change of ${isOne ? 'its' : 'their'} own`,
    summary: isOne
      ? ofOne
      : 'They fell at the same time, so look for a common cause: the model, the application, the users.',
    facts:
      first === undefined
        ? []
        : [{ label: 'Around', text: timeOf(first.shiftedAt) }, ...(isOne ? ownerFacts(first, null) : [])],
    prompts: prompts
      .slice(0, maxPrompts)
      .map(({ prompt, rateBefore, rateAfter, between, candidates = 0, ...told }) => ({
        name: line(prompt.name, 80),
        figures: `${percent(rateBefore)} → ${percent(rateAfter)}`,
        explanation:
          `The rate fell between ${timeOf(between[0])} and ${timeOf(between[1])}.` +
          (candidates === 0 ? '' : ` ${possibleCause({ count: candidates })}.`),
        comments: [],
        links: [linkToShift({ prompt, ...told }, publicUrl)],
      })),
    morePrompts: Math.max(0, promptCount - Math.min(prompts.length, maxPrompts)),
  }
}

function limitContent({ event, organisation, month, limit, used, resetsAt }: LimitMessage): ContentWithoutLinks {
  const name = line(organisation.name, 80)
  const monthName = new Date(`${month}-01T00:00:00Z`).toLocaleString('en', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  const share = Math.floor((100 * used) / limit)
  const isReached = event === 'limit.reached'
  return {
    ...withoutPrompts,
    title: isReached
      ? `${name} has reached its limit of signals for ${monthName}`
      : `${name} has used ${share}% of its signals for ${monthName}`,
    summary: isReached
      ? `New signals are rejected until ${timeOf(resetsAt)}, unless the plan is raised.`
      : `When the limit is reached, new signals are rejected until ${timeOf(resetsAt)}.`,
    facts: [{ label: 'Signals', text: `${count(used)} of ${count(limit)}` }],
  }
}

function repositoryContent({ event, repository, error, since }: RepositoryMessage): ContentWithoutLinks {
  const url = line(repository.url, 200)
  if (event === 'repository.recovered') {
    const summary = `Its history is up to date again. It had not been since ${timeOf(since)}.`
    return { ...withoutPrompts, title: `${url} syncs again`, summary, facts: [] }
  }
  return {
    ...withoutPrompts,
    title: `${url} does not sync`,
    summary: 'Changes that were pushed since then are not in the history yet.',
    facts: [
      { label: 'Failing since', text: timeOf(since) },
      { label: 'Reason', text: line(error ?? 'unknown', 500) },
    ],
  }
}

function trialContent({ event, trial, prompts }: TrialMessage): ContentWithoutLinks {
  const [first] = prompts
  const subject = prompts.length === 1 ? quoted(first?.prompt.name ?? '') : `${count(prompts.length)} prompts`
  const by = trial.prNumber === null ? reference(trial) : `pull request ${reference(trial)}`
  const { findings } = trial
  return {
    ...withoutPrompts,
    title: trialTitles[event](by, subject),
    summary: trialSummaries[event](trial.ending),
    facts: [
      { label: 'Trial', text: trial.id },
      { label: 'Share', text: percent(trial.share) },
      { label: 'Started', text: `${timeOf(trial.startedAt)} by ${line(trial.startedBy, 80)}` },
      ...(findings === null ? [] : [{ label: 'Positive', text: trialFigures(findings) }]),
    ],
  }
}

const trialTitles: Record<TrialMessage['event'], (by: string, subject: string) => string> = {
  'trial.started': (by, subject) => `A trial of ${by} on ${subject} has started`,
  'trial.better': (by, subject) => `In a trial, ${by} makes ${subject} better`,
  'trial.worse': (by, subject) => `In a trial, ${by} made ${subject} worse`,
  'trial.stopped': (by, subject) => `The trial of ${by} on ${subject} has ended`,
  'trial.mismatch': (by, subject) => `The trial of ${by} on ${subject} cannot be judged`,
}

const endings: Record<TrialEnding, string> = {
  worse: 'It was stopped, because users rate it lower than the live version, which everyone gets again.',
  live: 'Its text is live for everyone now.',
  requested: 'Everyone gets the live version again.',
  closed: 'Its pull request was closed. Everyone gets the live version again.',
  gone: 'A prompt of it was deleted or is no longer delivered.',
}

const trialSummaries: Record<TrialMessage['event'], (ending: TrialEnding | null) => string> = {
  'trial.started': () => 'Some users get its text now, chosen at random.',
  'trial.better': () => 'Users chosen at random rate it higher than the live version. Merge it when you are ready.',
  'trial.worse': () => 'Users chosen at random rate it lower than the live version, which everyone gets again.',
  'trial.stopped': (ending) => endings[ending ?? 'requested'],
  'trial.mismatch': () =>
    'Users or votes do not come in the promised share. Check how units are passed, whether one version fails, and whether people still vote.',
}

/** Such as `85% of 1,204 with the live version, 60% of 310 with the candidate`. */
function trialFigures({ arms: { control, candidate } }: TrialFindings): string {
  const rate = ({ voters, positive }: ArmFindings) =>
    voters === 0 ? 'no votes' : `${percent(positive / voters)} of ${count(voters)}`
  return `${rate(control)} with the live version, ${rate(candidate)} with the candidate`
}

function digestContent(message: DigestMessage, publicUrl: string): Omit<Content, 'links'> {
  const { organisation, from, until, counts } = message
  const { helped, hurt, undecided } = counts
  const name = line(organisation.name, 80)
  const found =
    helped + hurt + undecided === 0
      ? 'no change helped or hurt, and none is undecided'
      : `${count(helped)} ${helped === 1 ? 'change' : 'changes'} helped, ${count(hurt)} hurt, ${count(undecided)} undecided`
  return {
    ...withoutPrompts,
    title: `${name} last week: ${found}`,
    summary: `From ${dayOf(from)} to ${dayOf(until - 1)}, UTC.`,
    facts: [],
    sections: (['helped', 'hurt', 'undecided'] as const)
      .filter((section) => counts[section] > 0)
      .map((section) => digestSection(message, section, publicUrl)),
  }
}

const sectionTitles: Record<DigestSection, string> = { helped: 'Helped', hurt: 'Hurt', undecided: 'Undecided' }

function digestSection(message: DigestMessage, section: DigestSection, publicUrl: string): Section {
  const changes: Record<DigestSection, [DigestChange, note: string][]> = {
    helped: message.helped.map((change) => [change, '']),
    hurt: message.hurt.map((change) => [
      change,
      change.state === 'open' ? `, open since ${dayOf(change.openedAt)}` : `, ${change.state}`,
    ]),
    undecided: message.undecided.map((change) => [change, `, ${waitOf(change.daysLeft)}`]),
  }
  return {
    title: sectionTitles[section],
    items: changes[section].map(([change, note]) => ({
      name: line(change.prompt.name, 80),
      text: `${reference(change)} by ${line(change.author, 40)}: ${digestFigures(change)}${note}`,
      url: linkToChange(change, publicUrl).url,
    })),
    more: message.counts[section] - changes[section].length,
  }
}

function waitOf(daysLeft: number | null): string {
  if (daysLeft === null) return 'no verdict within 90 days at this rate'
  return `at least ${daysLeft} more ${daysLeft === 1 ? 'day' : 'days'} of votes`
}

function digestFigures({ before, after, interval }: DigestChange): string {
  if (before.rate === null || after.rate === null || interval === null) {
    return `${count(before.signals)} signals before it and ${count(after.signals)} after it`
  }
  return figuresOf({
    before: { ...before, rate: before.rate },
    after: { ...after, rate: after.rate },
    interval,
  })
}

function dayOf(at: Instant): string {
  return isoTime(at).slice(0, 10)
}

/** Such as `85% → 60% (1,204 and 310 signals; between 21 and 29 points lower)`. */
export function figuresOf({ before, after, interval }: Pick<ToldPrompt, 'before' | 'after' | 'interval'>): string {
  const signals = `${count(before.signals)} and ${count(after.signals)} signals`
  return `${percent(before.rate)} → ${percent(after.rate)} (${signals}; ${range(interval)})`
}

function range([low, high]: [number, number]): string {
  const [from, to] = [points(low), points(high)]
  if (high < 0) return `between ${to} and ${from} points lower`
  if (low > 0) return `between ${from} and ${to} points higher`
  return `between ${from} points lower and ${to} higher`
}

function points(difference: number): number {
  return Math.round(100 * Math.abs(difference))
}

/** Such as `#42`, or `commit 8f3a1c5` for a change without a pull request. */
function reference({ prNumber, commitSha }: Pick<HistoryEntry, 'prNumber' | 'commitSha'>): string {
  return prNumber === null ? `commit ${commitSha.slice(0, 7)}` : `#${prNumber}`
}

export function timeOf(at: Instant): string {
  return `${shortTime(at)} UTC`
}

function quoted(name: string): string {
  return `“${line(name, 80)}”`
}

function count(number: number): string {
  return number.toLocaleString('en')
}
