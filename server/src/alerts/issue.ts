import type { Attempt } from '../domain/alerts/channel.ts'
import type { RegressionMessage } from '../domain/alerts/message.ts'
import { issueSubject, type PullComment, type ReportIssue } from '../domain/alerts/pull-comment.ts'
import { tokenScopes } from '../domain/repositories/report-token.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { IssueApi, KnownIssue } from '../forges/forge-api.ts'
import { rejected, retry } from './attempt.ts'
import type { ForgeResult } from './forge-client.ts'
import { closingText, editedAt, issueText, issueTitle } from './issue-text.ts'
import { line } from './line.ts'
import { type OpenForge, openForge } from './open-forge.ts'
import { attemptOf, findComment, type PullCommentContext, withCurrentStates } from './pull-comment.ts'
import { commentMarker, hasMarker } from './pull-comment-text.ts'

// Longer than one attempt takes, which stops after 45 s.
const claimMs = 60_000
const maxPages = 5

export function createReportIssue(context: PullCommentContext): ReportIssue {
  return (repository, message) =>
    report(context, repository, message).catch((error: Error) => {
      context.log.warn({ reason: line(error.message, 500) }, 'could not open or close an issue')
      return retry(null, 'The issue could not be composed or stored. Ask the operator to check the log.')
    })
}

async function report(
  context: PullCommentContext,
  repository: Repository,
  message: RegressionMessage,
): Promise<Attempt> {
  const { store, clock } = context
  const scopes = tokenScopes.issues[repository.forge]
  const forge = openForge(context, repository, { needs: 'Issues need', scopes })
  if ('error' in forge) return rejected(null, forge.error)
  const { issues } = forge.api
  if (issues === null)
    return rejected(null, 'Issues are not supported on this forge. Turn them off for the repository.')
  const current = await withCurrentStates(context, message)
  const subject = issueSubject(message.change.prNumber, message.change.commitSha)
  const now = clock()
  const claimedUntil = now + claimMs
  const known = await store.pullComments.claim(repository, subject, now, claimedUntil)
  if (known === null) return retry(null, 'Another process is at work on this issue.')
  let stored: PullComment = known
  try {
    if (known.messageAt !== null && known.messageAt > message.at) {
      return { outcome: 'sent', status: null, response: 'The issue shows a newer message already.', error: null }
    }
    const about = { repository, message: current, subject, publicUrl: context.publicUrl() }
    const told = await tell(forge, issues, about, known)
    if (told.kind === 'done') stored = { commentId: told.value, messageAt: message.at }
    return attemptOf([told])
  } finally {
    await store.pullComments.release(repository, subject, stored, claimedUntil)
  }
}

interface About {
  repository: Repository
  message: RegressionMessage
  subject: string
  publicUrl: string
}

/** Opens the issue, or brings it up to date. Returns its number; null if there is none, because everything is over before it was told. */
async function tell(
  forge: OpenForge,
  issues: IssueApi,
  { repository, message, subject, publicUrl }: About,
  known: PullComment,
): Promise<ForgeResult<string | null>> {
  const { client, root, api } = forge
  const isOver = message.prompts.every(({ state }) => state !== 'open')
  // The last line of the issue says whether we have closed it. One that a person closed stays closed while something is open.
  const markers = { open: commentMarker(repository, subject), over: commentMarker(repository, `${subject}/over`) }
  const found = await findIssue(forge, issues, known.commentId, Object.values(markers))
  if (found.kind === 'failed') return found
  const ending = [editedAt(message), isOver ? markers.over : markers.open]
  const text = issueText(message, publicUrl, ending, api.maxCommentLength)
  const issue = found.value
  if (issue === null) {
    if (isOver) return { ...found, value: null }
    const created = await client.send(issues.create(root, { title: issueTitle(message), text }), 'open an issue')
    if (created.kind === 'failed') return created
    return { ...created, value: numberOf(issues.read(created.value)[0]) }
  }
  const wasOver = mentions(issue.text, markers.over)
  if (isOver && !wasOver) {
    const said = await sayOnce(forge, issues, issue, { repository, message, subject, publicUrl })
    if (said.kind === 'failed') return said
  }
  const isOpen = isOver ? false : wasOver ? true : issue.isOpen
  const change = { text, ...(isOpen === issue.isOpen ? {} : { isOpen }) }
  const edited = await client.send(
    issues.edit(root, issue.number, change),
    isOver ? 'close the issue' : 'edit the issue',
  )
  return edited.kind === 'failed' ? edited : { ...edited, value: numberOf(issue) }
}

function mentions(text: string, marker: string): boolean {
  return text.split(/\r?\n/).includes(marker)
}

function numberOf(issue: KnownIssue | undefined): string | null {
  return issue === undefined ? null : String(issue.number)
}

/** Comments why the issue is closed. The message has the same time in every attempt, so the comment is found if a crash came after it. */
async function sayOnce(
  forge: OpenForge,
  issues: IssueApi,
  { number }: KnownIssue,
  { repository, message, subject }: About,
): Promise<ForgeResult<unknown>> {
  const { client, root } = forge
  const marker = commentMarker(repository, `${subject}/over/${message.at}`)
  const list = (page: number) => issues.listComments(root, number, page, message.change.createdAt)
  const said = await findComment(forge, list, marker)
  if (said.kind === 'failed' || said.value !== null) return said
  return client.send(issues.createComment(root, number, closingText(message, marker)), 'comment on the issue')
}

/**
 * Our own issue: by its number, or by its last line if a crash kept us from storing that. It is new then, so a few pages are enough. A number alone
 * is no proof: at another URL, the repository may have another issue with it.
 */
async function findIssue(
  { client, root }: OpenForge,
  issues: IssueApi,
  known: string | null,
  markers: string[],
): Promise<ForgeResult<KnownIssue | null>> {
  const isOurs = ({ text }: KnownIssue) => markers.some((marker) => hasMarker(text, marker))
  if (known !== null) {
    const got = await client.send(issues.get(root, Number(known)), 'read the issue')
    // Not found: the issue was deleted, or the token no longer reaches it. The list tells.
    if (got.kind === 'failed' && got.status !== 404 && got.status !== 410) return got
    // Someone may have added a note below.
    const isKnown = ({ text }: KnownIssue) => markers.some((marker) => mentions(text, marker))
    const issue = got.kind === 'done' ? issues.read(got.value).find(isKnown) : undefined
    if (issue !== undefined) return { kind: 'done', value: issue, status: got.status }
  }
  let status: number | null = null
  for (let page = 1; page <= maxPages; page++) {
    const listed = await client.send(issues.list(root, page), 'read the issues')
    if (listed.kind === 'failed') return listed
    status = listed.status
    // Copies of it can only be newer.
    const own = issues.read(listed.value).filter(isOurs)
    const [first] = own.toSorted((a, b) => a.number - b.number)
    if (first !== undefined) return { kind: 'done', value: first, status }
    if (Array.isArray(listed.value) && listed.value.length === 0) break
  }
  return { kind: 'done', value: null, status }
}
