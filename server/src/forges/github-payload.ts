import { type DeploymentState, wholeShare } from '../domain/deployments/state.ts'
import type { PullEventKind, PullReport } from '../domain/history/pull.ts'
import type { DeploymentReport, LabelReport, Report } from '../domain/history/report.ts'
import type { Instant } from '../domain/time.ts'
import { shareOfLabels } from '../domain/trials/label.ts'
import { jsonOf } from './form-body.ts'
import type { Fields } from './payload-fields.ts'
import * as fields from './payload-fields.ts'

// Gitea and Forgejo send GitHub's payload with a few different spellings. All spellings are accepted from all three,
// because Forgejo also sends GitHub's headers and its deliveries do arrive at webhooks connected as GitHub.

interface Dialect {
  /** Whether a closed pull request always has `closed_at`. */
  alwaysHasClosedAt: boolean
}

export function readGithubPayload(event: string, body: string, receivedAt: Instant, dialect: Dialect): Report {
  const delivery = fields.parseFields(jsonOf(body))
  const events = eventsOf(event, delivery, receivedAt, dialect)
  return {
    repository: fields.identity(delivery, {
      ids: ['repository.id'],
      fullName: 'repository.full_name',
      webUrl: 'repository.html_url',
    }),
    webUrl: fields.repositoryUrl(delivery, 'repository.html_url'),
    defaultBranch: fields.optionalRefName(delivery, 'repository.default_branch'),
    events,
    note: events[0]?.type === 'pull' ? fields.missingTimeNote(delivery, 'pull_request.created_at') : null,
  }
}

function eventsOf(event: string, delivery: Fields, receivedAt: Instant, dialect: Dialect): Report['events'] {
  if (event === 'push') return fields.pushOf(delivery, 'pusher.login', 'pusher.username', 'pusher.name')
  if (event === 'pull_request') return [...pullOf(delivery, receivedAt, dialect), ...labelsOf(delivery, receivedAt)]
  if (event === 'deployment_status') return deploymentOf(delivery, receivedAt)
  return []
}

// GitHub's states. An unknown one is recorded, but has no effect on what is live.
const deploymentStates: Record<string, DeploymentState> = {
  success: 'success',
  inactive: 'inactive',
  failure: 'failure',
  error: 'failure',
  in_progress: 'in_progress',
}

/** The status contains its deployment, so the event `deployment` is not needed. */
function deploymentOf(delivery: Fields, receivedAt: Instant): DeploymentReport[] {
  const environment = fields.firstLine(delivery, 'deployment_status.environment', 'deployment.environment')
  const state = fields.text(delivery, 'deployment_status.state')
  const id = fields.optionalInteger(delivery, 'deployment.id')
  return [
    {
      type: 'deployment',
      deployment: {
        environment: environment ?? 'unnamed',
        flagged: fields.optionalFlag(delivery, 'deployment.production_environment'),
        commitSha: fields.commit(delivery, 'deployment.sha'),
        state: Object.hasOwn(deploymentStates, state) ? (deploymentStates[state] as DeploymentState) : 'queued',
        share: wholeShare,
        at: fields.optionalTime(delivery, 'deployment_status.created_at') ?? receivedAt,
        forgeDeploymentId: id === null ? null : String(id),
      },
    },
  ]
}

function pullOf(delivery: Fields, receivedAt: Instant, dialect: Dialect): PullReport[] {
  const kind = kindOf(delivery, dialect)
  if (kind === null) return []
  const times = fields.pullTimes(kind, {
    created: fields.optionalTime(delivery, 'pull_request.created_at'),
    happened: timeOf(kind, delivery),
    receivedAt,
  })
  return [
    {
      type: 'pull',
      number: numberOf(delivery),
      url: fields.webUrl(delivery, 'pull_request.html_url'),
      title: fields.line(delivery, 'pull_request.title'),
      openedAt: times.openedAt,
      event: {
        kind,
        ...times.event,
        // Gitea's spelling. Its old versions send the previous `updated_at` with it.
        ...(fields.text(delivery, 'action') === 'synchronized' ? { mayBeLater: true } : {}),
        head: fields.commit(delivery, 'pull_request.head.sha'),
        headBranch: headBranchOf(delivery),
        base: fields.refName(delivery, 'pull_request.base.ref'),
        // Before the merge, this field holds GitHub's test merge commit.
        mergeCommit: kind === 'merged' ? fields.optionalCommit(delivery, 'pull_request.merge_commit_sha') : null,
        commitCount: fields.optionalInteger(delivery, 'pull_request.commits'),
        mergeBase: fields.optionalCommit(delivery, 'pull_request.merge_base'),
        actor: actorOf(kind, delivery),
      },
    },
  ]
}

/** GitHub says which label was added or removed. Gitea and Forgejo only send those that the pull request has now. */
function labelsOf(delivery: Fields, receivedAt: Instant): LabelReport[] {
  const action = fields.text(delivery, 'action')
  const names = fields.names(delivery, 'pull_request.labels', 'name')
  if (names === null) return []
  const isNamed = action === 'labeled' || action === 'unlabeled'
  const isOurs = isNamed && shareOfLabels([fields.firstLine(delivery, 'label.name') ?? '']) !== null
  if (!isOurs && action !== 'label_updated' && action !== 'label_cleared') return []
  return [
    {
      type: 'label',
      label: {
        prNumber: numberOf(delivery),
        share: shareOfLabels(names),
        head: fields.commit(delivery, 'pull_request.head.sha'),
        actor: fields.firstLine(delivery, 'sender.login', 'sender.username') ?? 'ghost',
        changedAt: fields.optionalTime(delivery, 'pull_request.updated_at') ?? receivedAt,
      },
    },
  ]
}

// Old versions of Gitea send the number only outside.
function numberOf(delivery: Fields): number {
  const isInside =
    fields.valueAt(delivery, 'pull_request.number') !== null || fields.valueAt(delivery, 'number') === null
  return fields.pullNumber(delivery, isInside ? 'pull_request.number' : 'number')
}

function kindOf(delivery: Fields, dialect: Dialect): PullEventKind | null {
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
      return closeKind(delivery, dialect)
    default:
      return null
  }
}

function isRetargeted(delivery: Fields): boolean {
  return ['changes.base.ref.from', 'changes.ref.from'].some((path) => fields.optionalText(delivery, path) !== null)
}

function closeKind(delivery: Fields, dialect: Dialect): PullEventKind {
  if (fields.flag(delivery, 'pull_request.merged')) return 'merged'
  const isClosed = fields.text(delivery, 'pull_request.state') === 'closed'
  const hasClosedAt = fields.valueAt(delivery, 'pull_request.closed_at') !== null
  // GitHub has been seen to send a contradictory close for a pull request that it had just merged.
  return isClosed && (hasClosedAt || !dialect.alwaysHasClosedAt) ? 'closed' : 'unclear'
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

// Null if the fork was deleted, or -1 on Gitea.
function repositoryOf(delivery: Fields, side: 'head' | 'base'): number | null {
  const [repository, id] = [`pull_request.${side}.repo.id`, `pull_request.${side}.repo_id`]
  return fields.optionalInteger(delivery, repository) ?? fields.optionalInteger(delivery, id)
}

// Once the branch or its fork is deleted, Gitea sends its own ref here and the branch name only in the label.
function headRefOf(delivery: Fields): string {
  const ref = fields.refName(delivery, 'pull_request.head.ref')
  return (ref.startsWith('refs/') ? fields.optionalRefName(delivery, 'pull_request.head.label') : null) ?? ref
}

function actorOf(kind: PullEventKind, delivery: Fields): string {
  const first = { merged: ['pull_request.merged_by.login'], opened: ['pull_request.user.login'] }
  const paths = kind === 'merged' || kind === 'opened' ? first[kind] : []
  // The user is null for a deleted account, which the forges display as `ghost`.
  return fields.firstLine(delivery, ...paths, 'sender.login') ?? 'ghost'
}
