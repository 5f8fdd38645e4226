import type {
  DigestChange,
  DigestMessage,
  LimitMessage,
  Message,
  RegressionMessage,
  RepositoryMessage,
  ShiftMessage,
  ToldPrompt,
  TrialMessage,
} from '../domain/alerts/message.ts'
import type { HistoryEntry } from '../domain/history/entry.ts'
import { isoTime } from '../domain/time.ts'
import { cut } from './line.ts'
import { linksOf, linkToChange, linkToDismiss, linkToPrompt, linkToShift, linkToUndo } from './links.ts'
import { contentOf } from './text.ts'

const maxCommentLength = 2_000

/** The body of a webhook. Its schemas are in contract/events.ts. */
export function webhookBody(message: Message, publicUrl: string) {
  const { event, at, organisation } = message
  const { title } = contentOf(message, publicUrl)
  return {
    type: event,
    timestamp: isoTime(at),
    data: { organisation: organisation.name, summary: title, ...dataOf(message, publicUrl) },
  }
}

/** The same data as a CloudEvent. `id` and `source` identify it in every attempt. */
export function cloudEvent(message: Message, id: string, publicUrl: string) {
  const { type, timestamp, data } = webhookBody(message, publicUrl)
  const [prompt] = 'prompts' in message ? message.prompts : []
  return {
    specversion: '1.0',
    id,
    source: publicUrl,
    type: `dev.promptledger.${type}`,
    time: timestamp,
    ...(prompt !== undefined && { subject: prompt.prompt.publicId }),
    datacontenttype: 'application/json',
    data,
  }
}

function dataOf(message: Message, publicUrl: string): object {
  if ('dedupKey' in message) return regressionData(message, publicUrl)
  if ('trial' in message) return trialData(message, publicUrl)
  switch (message.event) {
    case 'shift.unexplained':
      return shiftData(message, publicUrl)
    case 'limit.near':
    case 'limit.reached':
      return limitData(message)
    case 'repository.failing':
    case 'repository.recovered':
      return repositoryData(message, publicUrl)
    case 'digest.weekly':
      return digestData(message, publicUrl)
    case 'alert.test':
      return { alert: message.alert }
  }
}

function regressionData(message: RegressionMessage, publicUrl: string) {
  const { change, title, repositoryId, prompts, dedupKey } = message
  return {
    change: entryBody(change),
    title,
    repository_id: repositoryId,
    dedup_key: dedupKey,
    prompts: prompts.map((told) => promptBody(told, publicUrl)),
  }
}

function promptBody(told: ToldPrompt, publicUrl: string) {
  const { prompt, repairedEntry } = told
  return {
    id: prompt.publicId,
    name: prompt.name,
    regression_id: told.regressionId,
    state: told.state,
    owner: told.owner ?? null,
    entry_id: told.entryId,
    live_from: isoTime(told.liveFrom),
    before: told.before,
    after: told.after,
    difference: told.difference,
    interval: told.interval,
    explanation: told.explanation,
    repaired_by: told.repairedBy,
    repaired_entry: repairedEntry && entryBody(repairedEntry),
    comments: told.comments.map(({ text, at }) => ({ text: cut(text, maxCommentLength), created_at: isoTime(at) })),
    links: {
      change: linkToChange(told, publicUrl).url,
      undo: linkToUndo(told, publicUrl).url,
      dismiss: linkToDismiss(told, publicUrl).url,
    },
  }
}

/** The same fields as in the API. */
function entryBody(entry: HistoryEntry) {
  const { id, action, user, commitSha, prNumber, prUrl, branchName, createdAt } = entry
  return {
    id,
    action,
    user: { name: user.name, email: user.email },
    commit_sha: commitSha,
    pr_number: prNumber,
    pr_url: prUrl,
    branch_name: branchName,
    created_at: isoTime(createdAt),
  }
}

function shiftData({ prompts, promptCount }: ShiftMessage, publicUrl: string) {
  return {
    prompt_count: promptCount,
    prompts: prompts.map(({ prompt, shiftedAt, between, rateBefore, rateAfter, candidates = 0, ...told }) => ({
      id: prompt.publicId,
      name: prompt.name,
      shift_id: told.shiftId ?? null,
      owner: told.owner ?? null,
      shifted_at: isoTime(shiftedAt),
      between: between.map(isoTime),
      rate_before: rateBefore,
      rate_after: rateAfter,
      candidates,
      links: {
        prompt: linkToPrompt(prompt, publicUrl).url,
        shift: linkToShift({ prompt, ...told }, publicUrl).url,
      },
    })),
  }
}

function limitData({ month, limit, used, resetsAt }: LimitMessage) {
  return { month, limit, used, resets_at: isoTime(resetsAt) }
}

function repositoryData(message: RepositoryMessage, publicUrl: string) {
  const { repository, error, since } = message
  const [link] = linksOf(message, publicUrl)
  return {
    repository: { id: repository.id, url: repository.url },
    error,
    since: isoTime(since),
    links: { repository: link?.url },
  }
}

function trialData({ trial, prUrl, prompts }: TrialMessage, publicUrl: string) {
  const { findings } = trial
  const armBody = (arm: 'control' | 'candidate') => {
    const { exposures = 0, voters = 0, positive = 0 } = findings?.arms[arm] ?? {}
    return { exposures, voters, rate: voters === 0 ? null : positive / voters }
  }
  return {
    trial_id: trial.id,
    commit_sha: trial.commitSha,
    pr_number: trial.prNumber,
    pr_url: prUrl,
    repository_id: trial.repositoryId,
    share: trial.share,
    started_by: trial.startedBy,
    started_at: isoTime(trial.startedAt),
    ended_by: trial.ending,
    control: armBody('control'),
    candidate: armBody('candidate'),
    difference: findings?.difference ?? null,
    interval: findings?.interval ?? null,
    prompts: prompts.map(({ prompt }) => ({
      id: prompt.publicId,
      name: prompt.name,
      links: { prompt: linkToPrompt(prompt, publicUrl).url },
    })),
  }
}

function digestData({ from, until, helped, hurt, undecided, counts }: DigestMessage, publicUrl: string) {
  const changeBody = (change: DigestChange) => ({
    prompt: { id: change.prompt.publicId, name: change.prompt.name },
    entry_id: change.entryId,
    commit_sha: change.commitSha,
    pr_number: change.prNumber,
    author: change.author,
    live_from: isoTime(change.liveFrom),
    before: { rate: change.before.rate, signals: change.before.signals },
    after: { rate: change.after.rate, signals: change.after.signals },
    interval: change.interval,
    links: { change: linkToChange(change, publicUrl).url },
  })
  return {
    from: isoTime(from),
    until: isoTime(until),
    counts,
    helped: helped.map(changeBody),
    hurt: hurt.map((change) => ({
      ...changeBody(change),
      regression_id: change.regressionId,
      state: change.state,
      opened_at: isoTime(change.openedAt),
    })),
    undecided: undecided.map((change) => ({ ...changeBody(change), days_left: change.daysLeft })),
  }
}
