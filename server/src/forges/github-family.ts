import type { PullEventKind, PullReport } from '../domain/history/pull.ts'
import type { PushReport, Report } from '../domain/history/report.ts'
import type { Instant } from '../domain/time.ts'
import type { Fields } from './fields.ts'
import * as fields from './fields.ts'

// Gitea and Forgejo send what GitHub sends, with another word here and there. Both spellings are read, whichever forge the
// hook was connected as: Forgejo also sends GitHub's headers, and its deliveries do arrive at such hooks.

export interface Family {
  /** Whether a pull request that was closed always says when. */
  tellsClosing: boolean
}

export function readFamily(event: string, body: string, family: Family): Report {
  const delivery = fields.parseFields(jsonOf(body))
  return {
    webUrl: fields.repositoryPage(delivery, 'repository.html_url'),
    defaultBranch: fields.optionalRefName(delivery, 'repository.default_branch'),
    events: eventsOf(event, delivery, family),
  }
}

// A hook with the content type application/x-www-form-urlencoded sends the same JSON as a field of a form.
function jsonOf(body: string): string {
  return body.startsWith('payload=') ? (new URLSearchParams(body).get('payload') ?? '') : body
}

function eventsOf(event: string, delivery: Fields, family: Family): Report['events'] {
  if (event === 'push') return pushOf(delivery)
  if (event === 'pull_request') return pullOf(delivery, family)
  return []
}

const branches = 'refs/heads/'

function pushOf(delivery: Fields): PushReport[] {
  const ref = fields.refName(delivery, 'ref')
  if (!ref.startsWith(branches)) return []
  return [
    {
      type: 'push',
      branch: ref.slice(branches.length),
      before: fields.optionalCommit(delivery, 'before'),
      after: fields.optionalCommit(delivery, 'after'),
      pusher: fields.firstLine(delivery, 'pusher.login', 'pusher.username', 'pusher.name'),
    },
  ]
}

function pullOf(delivery: Fields, family: Family): PullReport[] {
  const kind = kindOf(delivery, family)
  if (kind === null) return []
  const openedAt = fields.time(delivery, 'pull_request.created_at')
  return [
    {
      type: 'pull',
      number: fields.pullNumber(delivery, 'pull_request.number'),
      url: fields.webAddress(delivery, 'pull_request.html_url'),
      title: fields.line(delivery, 'pull_request.title'),
      openedAt,
      event: {
        kind,
        at: kind === 'opened' ? openedAt : (timeOf(kind, delivery) ?? openedAt),
        head: fields.commit(delivery, 'pull_request.head.sha'),
        headBranch: headBranchOf(delivery),
        base: fields.refName(delivery, 'pull_request.base.ref'),
        // Until it is merged, this is a commit that GitHub made to try the merge.
        mergeCommit: kind === 'merged' ? fields.optionalCommit(delivery, 'pull_request.merge_commit_sha') : null,
        commitCount: fields.optionalInteger(delivery, 'pull_request.commits'),
        actor: actorOf(kind, delivery),
      },
    },
  ]
}

function kindOf(delivery: Fields, family: Family): PullEventKind | null {
  switch (fields.text(delivery, 'action')) {
    case 'opened':
      return 'opened'
    case 'reopened':
      return 'reopened'
    case 'synchronize':
    case 'synchronized':
      return 'updated'
    case 'edited':
      return isRetargeted(delivery) ? 'retargeted' : null
    case 'closed':
      return howClosed(delivery, family)
    default:
      return null
  }
}

function isRetargeted(delivery: Fields): boolean {
  return ['changes.base.ref.from', 'changes.ref.from'].some((path) => fields.optionalText(delivery, path) !== null)
}

function howClosed(delivery: Fields, family: Family): PullEventKind {
  if (fields.flag(delivery, 'pull_request.merged')) return 'merged'
  const isClosed = fields.text(delivery, 'pull_request.state') === 'closed'
  const tellsWhen = fields.valueAt(delivery, 'pull_request.closed_at') !== null
  // GitHub was seen to send this for a pull request that it had just merged.
  return isClosed && (tellsWhen || !family.tellsClosing) ? 'closed' : 'unclear'
}

function timeOf(kind: PullEventKind, delivery: Fields): Instant | null {
  const merged = kind === 'merged' ? ['merged_at'] : []
  const closed = kind === 'merged' || kind === 'closed' ? ['closed_at'] : []
  for (const name of [...merged, ...closed, 'updated_at']) {
    const at = fields.optionalTime(delivery, `pull_request.${name}`)
    if (at !== null) return at
  }
  return null
}

function headBranchOf(delivery: Fields): string {
  const branch = headRefOf(delivery)
  if (repositoryOf(delivery, 'head') === repositoryOf(delivery, 'base')) return branch
  const label = fields.optionalText(delivery, 'pull_request.head.label') ?? ''
  if (label.indexOf(':') > 0) return fields.refName(delivery, 'pull_request.head.label')
  const owner = fields.firstLine(delivery, 'pull_request.head.repo.owner.login', 'pull_request.head.user.login')
  return `${owner ?? 'unknown'}:${branch}`
}

// Null, or -1 at Gitea, where the fork was deleted.
function repositoryOf(delivery: Fields, side: 'head' | 'base'): number | null {
  const [repository, id] = [`pull_request.${side}.repo.id`, `pull_request.${side}.repo_id`]
  return fields.optionalInteger(delivery, repository) ?? fields.optionalInteger(delivery, id)
}

// When the branch or its fork is gone, Gitea names the ref that it keeps, and the branch only in the label.
function headRefOf(delivery: Fields): string {
  const ref = fields.refName(delivery, 'pull_request.head.ref')
  return (ref.startsWith('refs/') ? fields.optionalRefName(delivery, 'pull_request.head.label') : null) ?? ref
}

function actorOf(kind: PullEventKind, delivery: Fields): string {
  const first = { merged: ['pull_request.merged_by.login'], opened: ['pull_request.user.login'] }
  const paths = kind === 'merged' || kind === 'opened' ? first[kind] : []
  // Who deleted their account is nobody here and `ghost` on the forge's pages.
  return fields.firstLine(delivery, ...paths, 'sender.login') ?? 'ghost'
}
