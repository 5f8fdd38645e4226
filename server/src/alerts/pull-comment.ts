import type { Attempt } from '../domain/alerts/channel.ts'
import type { RegressionMessage, TrialMessage } from '../domain/alerts/message.ts'
import {
  isReportedOnPull,
  type PullComment,
  type PullCommentStore,
  pullCommentSubject,
  type ReportOnPull,
  trialCommentSubject,
} from '../domain/alerts/pull-comment.ts'
import { missingReportToken } from '../domain/repositories/report-token.ts'
import type { Repository, RepositoryStore } from '../domain/repositories/repository.ts'
import { isPlainHttpUrl } from '../domain/repositories/repository-url.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Clock, Instant } from '../domain/time.ts'
import type { CommitStatus, ForgeApi } from '../forges/forge-api.ts'
import { apiOf } from '../forges/index.ts'
import { sendRequest } from '../net/request.ts'
import { rejected, retry } from './attempt.ts'
import { createForgeClient, type ForgeClient, type ForgeResult } from './forge-client.ts'
import { line } from './line.ts'
import { commentMarker, commitStatus, hasMarker, pullCommentText } from './pull-comment-text.ts'
import { trialCommentText, trialStatus } from './trial-comment-text.ts'

/** The dependencies and settings of reports on pull requests. */
export interface PullCommentContext {
  store: { pullComments: PullCommentStore; repositories: Pick<RepositoryStore, 'find'> }
  vault: Vault
  clock: Clock
  publicUrl: () => string
  /** As for fetching repositories. The operator's own may be at private addresses and plain http anyway. */
  allowPrivateAddresses: boolean
  allowHttp: boolean
  /** For failures whose reason concerns the operator only. */
  log: { warn(details: object, message: string): void }
  /** How requests are sent. Default: over the network. */
  send?: typeof sendRequest
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
  status(repository: Repository): CommitStatus
  text(marker: string, maxLength: number): string
}

async function reportOf(context: PullCommentContext, message: RegressionMessage | TrialMessage): Promise<Report> {
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

async function report(context: PullCommentContext, message: RegressionMessage | TrialMessage): Promise<Attempt> {
  const { store, clock } = context
  const repository = await repositoryOf(context, message)
  if (repository === null) return rejected(null, 'Reports on the pull requests of this repository are off.')
  const forge = openForge(context, repository)
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
    const status = await setStatus(forge, repository, said)
    const told = prNumber === null ? null : await tellPull(forge, { repository, said, known, prNumber })
    const isTold = (told ?? status).kind === 'done'
    comment = {
      commentId: told?.kind === 'done' ? told.value : known.commentId,
      messageAt: isTold ? message.at : known.messageAt,
    }
    const attempt = attemptOf(told === null ? [status] : [told, status])
    // That everything is over needs no comment, so it does not prove that the token can write one.
    const isProof = attempt.error !== null || told === null || comment.commentId !== null
    if (attempt.outcome !== 'retry' && isProof) await store.pullComments.recordError(repository, attempt.error)
    return attempt
  } finally {
    await store.pullComments.release(repository, subject, comment, claimedUntil)
  }
}

/** Null if the change is not one of a repository with reports. Entries that were recorded over the API belong to none. */
async function repositoryOf(
  context: PullCommentContext,
  message: RegressionMessage | TrialMessage,
): Promise<Repository | null> {
  const repositoryId = 'trial' in message ? message.trial.repositoryId : message.repositoryId
  if (repositoryId === null) return null
  const repository = await context.store.repositories.find(repositoryId)
  if (repository === null || repository.organisationId !== message.organisation.id) return null
  return isReportedOnPull(repository) ? repository : null
}

/** An attempt can be days later. A regression that has ended by then is not reported as open: the message about its end may never be sent. */
async function withCurrentStates(
  { store }: PullCommentContext,
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

interface OpenForge {
  api: ForgeApi
  client: ForgeClient
  /** Where the API has the repository. */
  root: string
}

function openForge(context: PullCommentContext, repository: Repository): OpenForge | { error: string } {
  const { vault, allowPrivateAddresses, allowHttp, send = sendRequest } = context
  const { hookId, forge, url, sealedToken, connectedByOperator } = repository
  const api = apiOf(forge)
  if (sealedToken === null) return { error: missingReportToken(repository) ?? '' }
  const root = api.repositoryUrl(url)
  if (root === null) {
    const where = forge === 'bitbucket' ? 'https://bitbucket.org/…: Bitbucket Data Center has another API' : 'https://…'
    return { error: `Reports on pull requests need a repository URL of the form ${where}.` }
  }
  const network = {
    allowPrivate: allowPrivateAddresses || connectedByOperator,
    allowHttp: allowHttp || connectedByOperator,
  }
  if (isPlainHttpUrl(root) && !network.allowHttp) {
    return { error: 'Plain http:// is not allowed. Use https://, or set ALLOW=http-repositories.' }
  }
  const token = vault.decrypt(sealedToken, { hookId, kind: 'token' })
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return { error: 'The token has characters that a request header cannot have. Set a new one.' }
  }
  const showsReasons = !allowPrivateAddresses || connectedByOperator
  const client = createForgeClient({ forge, api, token, showsReasons, send: (...args) => send(network, ...args) })
  return { api, root, client }
}

async function setStatus(
  { api, client, root }: OpenForge,
  repository: Repository,
  { commitSha, status }: Report,
): Promise<ForgeResult<unknown>> {
  const set = await client.send(api.setStatus(root, commitSha, status(repository)), 'set the commit status')
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
  const found = await findComment({ api, client, root }, prNumber, said, marker)
  if (found.kind === 'failed') return found
  if (found.value !== null) return edit(found.value)
  if (said.isOver) return { kind: 'done', value: null, status: found.status }
  const created = await client.send(api.createComment(root, prNumber, text), 'comment on the pull request')
  if (created.kind === 'failed') return created
  const id = api.readCommentId(created.value)
  return { kind: 'done', value: id, status: created.status }
}

/** Our own comment, if a crash kept us from storing its ID. Comments are searched from the merge on, so a few pages are enough. */
async function findComment(
  { api, client, root }: OpenForge,
  prNumber: number,
  { since }: Report,
  marker: string,
): Promise<ForgeResult<string | null>> {
  let status: number | null = null
  for (let page = 1; page <= maxPages; page++) {
    const request = api.listComments(root, prNumber, page, since)
    if (request === null) break
    const listed = await client.send(request, 'read the comments of the pull request')
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
function attemptOf(results: ForgeResult<unknown>[]): Attempt {
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
