import type { Attempt } from '../domain/alerts/channel.ts'
import type { RegressionMessage } from '../domain/alerts/message.ts'
import {
  briefingSubject,
  isBriefed,
  isReportedOnPull,
  type PullComment,
  type PullCommentStore,
  type PullMessage,
  pullCommentSubject,
  type ReportOnPull,
  trialCommentSubject,
} from '../domain/alerts/pull-comment.ts'
import { tokenScopes } from '../domain/repositories/report-token.ts'
import type { Repository, RepositoryStore } from '../domain/repositories/repository.ts'
import type { Clock, Instant } from '../domain/time.ts'
import type { CommitStatus, ForgeRequest } from '../forges/forge-api.ts'
import { rejected, retry } from './attempt.ts'
import { briefingText } from './briefing-text.ts'
import type { ForgeResult } from './forge-client.ts'
import { line } from './line.ts'
import { type ForgeContext, type OpenForge, openForge } from './open-forge.ts'
import { commentMarker, commitStatus, hasMarker, pullCommentText } from './pull-comment-text.ts'
import { refusedLabelText, trialCommentText, trialStatus } from './trial-comment-text.ts'

/** The dependencies and settings of reports on pull requests. */
export interface PullCommentContext extends ForgeContext {
  store: { pullComments: PullCommentStore; repositories: Pick<RepositoryStore, 'find'> }
  clock: Clock
  publicUrl: () => string
  /** For failures whose reason concerns the operator only. */
  log: { warn(details: object, message: string): void }
}

// Longer than one attempt takes, which stops after 45 s.
const claimMs = 60_000
const maxPages = 5

export function createReportOnPull(context: PullCommentContext): ReportOnPull {
  return (message) =>
    report(context, message).catch((error: Error) => {
      context.log.warn({ reason: line(error.message, 500) }, 'could not report on a pull request')
      return retry(null, 'The report could not be composed or stored. Ask the operator to check the log.')
    })
}

/** What a message says on a pull request and its commit. */
interface Report {
  at: Instant
  prNumber: number | null
  commitSha: string
  /** Which comment says it. */
  subject: string
  /** The comment is not older. */
  since: Instant
  /** Whether there is nothing to say unless it was said before. */
  isOver: boolean
  /** Null if the commit gets none. */
  status: ((repository: Repository) => CommitStatus) | null
  text(marker: string, maxLength: number): string
}

async function reportOf(context: PullCommentContext, message: PullMessage): Promise<Report> {
  const url = context.publicUrl()
  if ('trial' in message) {
    const { prNumber, commitSha, startedAt } = message.trial
    return {
      at: message.at,
      prNumber,
      commitSha,
      subject: trialCommentSubject(prNumber ?? 0),
      since: startedAt,
      isOver: false,
      status: (repository) => trialStatus(message, repository, url),
      text: (marker) => trialCommentText(message, url, marker),
    }
  }
  if (message.event === 'trial.refused') {
    const { at, prNumber, commitSha } = message
    const subject = trialCommentSubject(prNumber)
    const text = (marker: string) => refusedLabelText(message, marker)
    return { at, prNumber, commitSha, subject, since: at, isOver: false, status: null, text }
  }
  if (message.event === 'pull.briefed') {
    const { at, prNumber, commitSha, openedAt: since, files } = message
    const subject = briefingSubject(prNumber)
    const text = (marker: string, maxLength: number) => briefingText(message, url, marker, maxLength)
    return { at, prNumber, commitSha, subject, since, isOver: files.length === 0, status: null, text }
  }
  const current = await withCurrentStates(context, message)
  const { prNumber, commitSha, createdAt } = current.change
  return {
    at: current.at,
    prNumber,
    commitSha,
    subject: pullCommentSubject(prNumber, commitSha),
    since: createdAt,
    isOver: current.prompts.every(({ state }) => state !== 'open'),
    status: (repository) => commitStatus(current, repository, url),
    text: (marker, maxLength) => pullCommentText(current, url, marker, maxLength),
  }
}

async function report(context: PullCommentContext, message: PullMessage): Promise<Attempt> {
  const { store, clock } = context
  const repository = await repositoryOf(context, message)
  if (repository === null) return rejected(null, 'Reports on the pull requests of this repository are off.')
  const forge = openForge(context, repository, {
    needs: 'Reports on pull requests need',
    scopes: tokenScopes.reports[repository.forge],
  })
  if ('error' in forge) {
    await store.pullComments.recordError(repository, forge.error)
    return rejected(null, forge.error)
  }
  const said = await reportOf(context, message)
  const { prNumber, subject } = said
  const now = clock()
  const claimedUntil = now + claimMs
  const known = await store.pullComments.claim(repository, subject, now, claimedUntil)
  if (known === null) return retry(null, 'Another process is reporting on this pull request.')
  let comment: PullComment = known
  try {
    if (known.messageAt !== null && known.messageAt > message.at) {
      return { outcome: 'sent', status: null, response: 'A newer message is shown already.', error: null }
    }
    const status = said.status === null ? null : await setStatus(forge, said.commitSha, said.status(repository))
    const told = prNumber === null ? null : await tellPull(forge, { repository, said, known, prNumber })
    const isTold = (told ?? status)?.kind === 'done'
    comment = {
      commentId: told?.kind === 'done' ? told.value : known.commentId,
      messageAt: isTold ? message.at : known.messageAt,
    }
    const attempt = attemptOf([told, status].filter((result) => result !== null))
    // That everything is over needs no comment, so it does not prove that the token can write one.
    const isProof = attempt.error !== null || told === null || comment.commentId !== null
    // Nor does a briefing or a trial prove that it can open issues.
    const isAll = attempt.error !== null || 'dedupKey' in message || !repository.opensIssues
    if (attempt.outcome !== 'retry' && isProof && isAll) await store.pullComments.recordError(repository, attempt.error)
    return attempt
  } finally {
    await store.pullComments.release(repository, subject, comment, claimedUntil)
  }
}

/** Null if the change is not one of a repository with reports. Entries that were recorded over the API belong to none. */
async function repositoryOf(context: PullCommentContext, message: PullMessage): Promise<Repository | null> {
  const repositoryId = 'trial' in message ? message.trial.repositoryId : message.repositoryId
  if (repositoryId === null) return null
  const repository = await context.store.repositories.find(repositoryId)
  if (repository === null || repository.organisationId !== message.organisation.id) return null
  const isOn = message.event === 'pull.briefed' ? isBriefed : isReportedOnPull
  return isOn(repository) ? repository : null
}

/** An attempt can be days later. A regression that has ended by then is not reported as open: the message about its end may never be sent. */
export async function withCurrentStates(
  { store }: Pick<PullCommentContext, 'store'>,
  message: RegressionMessage,
): Promise<RegressionMessage> {
  const open = message.prompts.filter(({ state }) => state === 'open')
  const ids = open.map(({ regressionId }) => regressionId)
  const states = await store.pullComments.states(message.organisation.id, ids)
  const prompts = message.prompts.map((told) =>
    told.state === 'open' ? { ...told, state: states.get(told.regressionId) ?? told.state } : told,
  )
  return { ...message, prompts }
}

async function setStatus(
  { api, client, root }: OpenForge,
  commitSha: string,
  status: CommitStatus,
): Promise<ForgeResult<unknown>> {
  const set = await client.send(api.setStatus(root, commitSha, status), 'set the commit status')
  return set.kind === 'failed' && set.isDoneAlready ? { kind: 'done', value: null, status: set.status } : set
}

interface Told {
  repository: Repository
  said: Report
  known: PullComment
  prNumber: number
}

/** Edits the comment, or creates it. Returns its ID; null if there is none, because everything is over before it was told. */
async function tellPull(
  { api, client, root }: OpenForge,
  { repository, said, known, prNumber }: Told,
): Promise<ForgeResult<string | null>> {
  const marker = commentMarker(repository, said.subject)
  const text = said.text(marker, api.maxCommentLength)
  const edit = async (id: string): Promise<ForgeResult<string>> => {
    const edited = await client.send(api.editComment(root, prNumber, id, text), 'edit its comment')
    return edited.kind === 'done' ? { ...edited, value: id } : edited
  }
  if (known.commentId !== null) {
    const edited = await edit(known.commentId)
    // Not found: the comment was deleted, or the token no longer reaches it. The list tells.
    if (edited.kind === 'done' || edited.status !== 404) return edited
  }
  const list = (page: number) => api.listComments(root, prNumber, page, said.since)
  const found = await findComment({ api, client, root }, list, marker)
  if (found.kind === 'failed') return found
  if (found.value !== null) return edit(found.value)
  if (said.isOver) return { kind: 'done', value: null, status: found.status }
  const created = await client.send(api.createComment(root, prNumber, text), 'comment on the pull request')
  if (created.kind === 'failed') return created
  const id = api.readCommentId(created.value)
  return { kind: 'done', value: id, status: created.status }
}

/** Our own comment, if a crash kept us from storing its ID. Comments are searched from the merge on, so a few pages are enough. */
export async function findComment(
  { api, client }: OpenForge,
  list: (page: number) => ForgeRequest | null,
  marker: string,
): Promise<ForgeResult<string | null>> {
  let status: number | null = null
  for (let page = 1; page <= maxPages; page++) {
    const request = list(page)
    if (request === null) break
    const listed = await client.send(request, 'read the comments')
    if (listed.kind === 'failed') return listed
    status = listed.status
    const comments = api.readComments(listed.value)
    const own = comments.filter(({ text }) => hasMarker(text, marker)).map(({ id }) => Number(id))
    // Copies of it can only be newer.
    if (own.length > 0) return { kind: 'done', value: String(Math.min(...own)), status }
    // A page that is too long to be read has an undefined value. Comments of others must not keep us from the next one.
    if (listed.value !== undefined && comments.length === 0) break
  }
  return { kind: 'done', value: null, status }
}

/** One part is enough to count as told, because the end has to be told too: a status that stays red would be wrong. */
export function attemptOf(results: ForgeResult<unknown>[]): Attempt {
  const failures = results.filter((result) => result.kind === 'failed')
  const done = results.find((result) => result.kind === 'done')
  const [first] = failures
  if (first === undefined) return { outcome: 'sent', status: done?.status ?? null, response: null, error: null }
  const isFinal = failures.every((failure) => failure.isFinal)
  const waits = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  return {
    outcome: isFinal ? (done === undefined ? 'rejected' : 'sent') : 'retry',
    // Without a status, what waits for another attempt counts as told.
    status: done === undefined || isFinal ? first.status : null,
    response: first.reason,
    error: [...new Set(failures.map(({ error }) => error))].join(' '),
    ...(waits.length > 0 ? { retryAfterMs: Math.max(...waits) } : {}),
  }
}
