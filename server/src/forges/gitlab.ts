import { randomBytes } from 'node:crypto'
import { type DeploymentState, wholeShare } from '../domain/deployments/state.ts'
import type { PullEventKind, PullReport } from '../domain/history/pull.ts'
import type { DeploymentReport, LabelReport, Report } from '../domain/history/report.ts'
import type { WebhookRequest } from '../domain/repositories/delivery.ts'
import type { Instant } from '../domain/time.ts'
import { shareOfLabels } from '../domain/trials/label.ts'
import type { Forge } from './forge.ts'
import { forgeText, lastLineWith, mention, numberAfter, numberAtEnd } from './merge-reference.ts'
import type { Fields } from './payload-fields.ts'
import * as fields from './payload-fields.ts'
import { firstPrintableHeader, header, isKnownToken, isSignedWith } from './webhook-signature.ts'

const maxPathLength = 1_000

const signingPrefix = 'whsec_'

// Rejects replays of recorded deliveries. GitLab's clock may differ from ours by this much.
const maxClockDifferenceMs = 5 * 60_000

export const gitlab: Forge = {
  title: 'GitLab',
  tokenUser: 'oauth2',

  signatureHeaders: ['x-gitlab-token', 'webhook-signature'],

  verifySignature(request, secrets, now) {
    const keys = secrets.filter((secret) => secret.startsWith(signingPrefix)).map(keyOf)
    // No fallback to the token: an attacker who saw it once could omit the signature.
    if (request.headers['webhook-signature'] !== undefined && keys.length > 0)
      return isStandardSigned(request, keys, now)
    return isKnownToken(secrets, header(request.headers, 'x-gitlab-token'))
  },

  readHeaders(headers) {
    return {
      event: firstPrintableHeader(headers, ['x-gitlab-event']) ?? '',
      deliveryId: firstPrintableHeader(headers, ['idempotency-key', 'webhook-id']),
    }
  },

  readBody(event, body, receivedAt) {
    const delivery = fields.parseFields(body)
    const events = eventsOf(event, delivery, receivedAt)
    return {
      repository: fields.identity(delivery, {
        ids: ['project.id', 'project_id', 'object_attributes.target_project_id'],
        fullName: 'project.path_with_namespace',
        webUrl: 'project.web_url',
      }),
      webUrl: fields.repositoryUrl(delivery, 'project.web_url'),
      defaultBranch: fields.optionalRefName(delivery, 'project.default_branch'),
      events,
      note: events[0]?.type === 'pull' ? fields.missingTimeNote(delivery, 'object_attributes.created_at') : null,
    }
  },

  generateSecret() {
    return signingPrefix + randomBytes(32).toString('base64')
  },

  pullRef(number) {
    return `refs/merge-requests/${number}/head`
  },

  pullRefPattern: 'refs/merge-requests/*/head',
  keepsPullRefs: false,
  namesPagesInMessages: true,

  commitPath(sha) {
    return `/-/commit/${sha}`
  },

  pullPath(number) {
    return `/-/merge_requests/${number}`
  },

  // See merge request acme/lab/prompts!7. Before version 9, GitLab left out the path.
  mergeReference({ subject, message }) {
    const reference = lastLineWith(message, 'See merge request ')
    if (reference === null || /\s/.test(reference)) return mention(numberAtEnd(subject, ['!']))
    const path = reference.slice(0, Math.max(0, reference.lastIndexOf('!')))
    const number = numberAfter(reference, '!')
    return path === '' ? mention(number) : forgeText(number, path.slice(0, maxPathLength).toLowerCase())
  },

  // Only on instances that sign commits made in the web interface, such as gitlab.com.
  isForgeCommitter({ email }) {
    return email === 'noreply@gitlab.com'
  },

  setUpSteps({ url, secret, webUrl }) {
    return [
      `Open ${webUrl}/-/hooks and click "Add new webhook".`,
      `URL: ${url}, Secret token: ${secret} (do not generate a signing token)`,
      'Trigger: select Push events (all branches), Merge request events and Deployment events.',
      'Leave SSL verification on and click "Add webhook".',
    ]
  },
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(signingPrefix.length), 'base64')
}

const signatureFormat = /^v\d+[a-z]?,[\w+/=-]+$/

/** Standard Webhooks: a signature covers the id, the timestamp and the body. One matching signature is enough. */
function isStandardSigned({ headers, body }: WebhookRequest, keys: Buffer[], now: Instant): boolean {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const signatures = header(headers, 'webhook-signature')?.split(' ') ?? []
  if (!id || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1000) > maxClockDifferenceMs) return false
  // Node joins a repeated header with commas, which this format excludes.
  if (!signatures.every((signature) => signatureFormat.test(signature))) return false
  const bytes = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  return signatures.some(
    (signature) => signature.startsWith('v1,') && isSignedWith(keys, bytes, signature.slice(3), 'base64'),
  )
}

function eventsOf(event: string, delivery: Fields, receivedAt: Instant): Report['events'] {
  if (event === 'Push Hook') return fields.pushOf(delivery, 'user_username', 'user_name')
  if (event === 'Merge Request Hook') return [...pullOf(delivery, receivedAt), ...labelsOf(delivery, receivedAt)]
  if (event === 'Deployment Hook') return deploymentOf(delivery, receivedAt)
  return []
}

// GitLab's states. An unknown one is recorded, but has no effect on what is live.
const deploymentStates: Record<string, DeploymentState> = {
  success: 'success',
  failed: 'failure',
  canceled: 'failure',
  rejected: 'failure',
  skipped: 'failure',
  running: 'in_progress',
}

function deploymentOf(delivery: Fields, receivedAt: Instant): DeploymentReport[] {
  const status = fields.text(delivery, 'status')
  const id = fields.optionalInteger(delivery, 'deployment_id')
  const tier = fields.firstLine(delivery, 'environment_tier')
  return [
    {
      type: 'deployment',
      deployment: {
        environment: fields.firstLine(delivery, 'environment') ?? 'unnamed',
        flagged: tier === null ? null : tier === 'production',
        commitSha: deployedCommit(delivery),
        state: Object.hasOwn(deploymentStates, status) ? (deploymentStates[status] as DeploymentState) : 'queued',
        share: wholeShare,
        at: fields.optionalTime(delivery, 'status_changed_at') ?? receivedAt,
        forgeDeploymentId: id === null ? null : String(id),
      },
    },
  ]
}

/** The payload has only the start of the hash, but the URL of the commit ends with all of it. */
function deployedCommit(delivery: Fields): string {
  const short = fields.commit(delivery, 'short_sha')
  const full = /\/([0-9a-f]{40}|[0-9a-f]{64})$/.exec(fields.optionalText(delivery, 'commit_url') ?? '')?.[1]
  return full?.startsWith(short) ? full : short
}

function pullOf(delivery: Fields, receivedAt: Instant): PullReport[] {
  const kind = kindOf(delivery)
  // A merge request can be opened before its branch has a commit. There is nothing to report yet.
  if (kind === null || fields.valueAt(delivery, 'object_attributes.last_commit') === null) return []
  const times = fields.pullTimes(kind, {
    created: fields.optionalTime(delivery, 'object_attributes.created_at'),
    // GitLab sends no closing or merging time. The last update is the event itself.
    happened: fields.optionalTime(delivery, 'object_attributes.updated_at'),
    receivedAt,
  })
  return [
    {
      type: 'pull',
      number: fields.pullNumber(delivery, 'object_attributes.iid'),
      url: fields.webUrl(delivery, 'object_attributes.url'),
      title: fields.line(delivery, 'object_attributes.title'),
      openedAt: times.openedAt,
      event: {
        kind,
        ...times.event,
        head: fields.commit(delivery, 'object_attributes.last_commit.id'),
        headBranch: headBranchOf(delivery),
        base: fields.refName(delivery, 'object_attributes.target_branch'),
        mergeCommit: kind === 'merged' ? mergeCommitOf(delivery) : null,
        commitCount: null,
        mergeBase: null,
        actor: fields.firstLine(delivery, 'user.username', 'user.name'),
      },
    },
  ]
}

function labelsOf(delivery: Fields, receivedAt: Instant): LabelReport[] {
  const [before, after] = ['previous', 'current'].map((side) =>
    fields.names(delivery, `changes.labels.${side}`, 'title'),
  )
  if (before == null || after == null) return []
  const [from, share] = [shareOfLabels(before), shareOfLabels(after)]
  if (from === share || fields.valueAt(delivery, 'object_attributes.last_commit') === null) return []
  return [
    {
      type: 'label',
      label: {
        prNumber: fields.pullNumber(delivery, 'object_attributes.iid'),
        share,
        head: fields.commit(delivery, 'object_attributes.last_commit.id'),
        actor: fields.firstLine(delivery, 'user.username') ?? 'ghost',
        changedAt: fields.optionalTime(delivery, 'object_attributes.updated_at') ?? receivedAt,
      },
    },
  ]
}

function kindOf(delivery: Fields): PullEventKind | null {
  // The "Test" button sends no action.
  switch (fields.optionalText(delivery, 'object_attributes.action')) {
    case 'open':
      return 'opened'
    case 'reopen':
      return 'reopened'
    case 'close':
      return 'closed'
    case 'merge':
      return 'merged'
    case 'update':
      return updateKind(delivery)
    default:
      return null
  }
}

function updateKind(delivery: Fields): PullEventKind | null {
  if (fields.valueAt(delivery, 'changes.target_branch') !== null) return 'retargeted'
  return fields.optionalText(delivery, 'object_attributes.oldrev') === null ? null : 'updated'
}

// Both are null after a fast-forward.
function mergeCommitOf(delivery: Fields): string | null {
  const [merge, squash] = ['merge_commit_sha', 'squash_commit_sha'].map((name) =>
    fields.optionalCommit(delivery, `object_attributes.${name}`),
  )
  return merge ?? squash ?? null
}

function headBranchOf(delivery: Fields): string {
  const branch = fields.refName(delivery, 'object_attributes.source_branch')
  const [source, target] = ['source', 'target'].map((side) =>
    fields.optionalInteger(delivery, `object_attributes.${side}_project_id`),
  )
  if (source === target) return branch
  const path = fields.firstLine(delivery, 'object_attributes.source.path_with_namespace') ?? ''
  // Prefer the path: the field `namespace` is a display name, such as "Gitlab Org".
  const owner =
    path.slice(0, Math.max(0, path.lastIndexOf('/'))) ||
    fields.firstLine(delivery, 'object_attributes.source.namespace')
  return `${owner ?? 'unknown'}:${branch}`
}
