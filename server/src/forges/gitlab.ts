import { randomBytes } from 'node:crypto'
import type { PullEventKind, PullReport } from '../domain/history/pull.ts'
import type { PushReport, Report } from '../domain/history/report.ts'
import type { Instant } from '../domain/time.ts'
import type { Fields } from './fields.ts'
import * as fields from './fields.ts'
import type { Forge, Incoming } from './forge.ts'
import { firstLabel, header } from './headers.ts'
import { lastLineWith, numberAfter } from './mark.ts'
import { isOneOf, isSigned } from './signature.ts'

const signing = 'whsec_'

// How far its clock may be from ours; an older delivery could be one that somebody recorded.
const longestDelay = 5 * 60_000

export const gitlab: Forge = {
  title: 'GitLab',
  tokenUser: 'oauth2',

  verify(incoming, secrets, now) {
    const keys = secrets.filter((secret) => secret.startsWith(signing)).map(keyOf)
    // Falling back to the token would let whoever once saw it leave the signature out.
    if (incoming.headers['webhook-signature'] !== undefined && keys.length > 0) return isStandard(incoming, keys, now)
    return isOneOf(header(incoming.headers, 'x-gitlab-token'), secrets)
  },

  describe(headers) {
    return {
      event: firstLabel(headers, ['x-gitlab-event']) ?? '',
      deliveryId: firstLabel(headers, ['idempotency-key', 'webhook-id']),
    }
  },

  read(event, body) {
    const delivery = fields.parseFields(body)
    return {
      webUrl: fields.repositoryPage(delivery, 'project.web_url'),
      defaultBranch: fields.optionalRefName(delivery, 'project.default_branch'),
      events: eventsOf(event, delivery),
    }
  },

  newSecret() {
    return signing + randomBytes(32).toString('base64')
  },

  pullRef(number) {
    return `refs/merge-requests/${number}/head`
  },

  commitPath(sha) {
    return `/-/commit/${sha}`
  },

  pullPath(number) {
    return `/-/merge_requests/${number}`
  },

  markOf({ message }) {
    const reference = lastLineWith(message, 'See merge request ')
    return reference === null || /\s/.test(reference) ? null : numberAfter(reference, '!')
  },

  // Where the instance signs what is done on its pages, which gitlab.com does.
  isCommitter({ email }) {
    return email === 'noreply@gitlab.com'
  },

  setUp({ url, secret, webUrl }) {
    return [
      `Open ${webUrl}/-/hooks and press "Add new webhook".`,
      `URL: ${url}, Secret token: ${secret} (generate no signing token)`,
      'Trigger: tick Push events (all branches) and Merge request events.',
      'Leave SSL verification on and press "Add webhook".',
    ]
  },
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(signing.length), 'base64')
}

const signatures = /^v\d+[a-z]?,[\w+/=-]+$/

/** Standard Webhooks: one of the signatures is over the id, the time and the body. */
function isStandard({ headers, body }: Incoming, keys: Buffer[], now: Instant): boolean {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const given = header(headers, 'webhook-signature')?.split(' ') ?? []
  if (!id || timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1000) > longestDelay) return false
  // A header that was sent twice arrives joined with commas.
  if (!given.every((signature) => signatures.test(signature))) return false
  const bytes = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  return given.some((signature) => signature.startsWith('v1,') && isSigned(bytes, signature.slice(3), keys, 'base64'))
}

function eventsOf(event: string, delivery: Fields): Report['events'] {
  if (event === 'Push Hook') return pushOf(delivery)
  if (event === 'Merge Request Hook') return pullOf(delivery)
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
      pusher: fields.firstLine(delivery, 'user_username', 'user_name'),
    },
  ]
}

function pullOf(delivery: Fields): PullReport[] {
  const kind = kindOf(delivery)
  // A merge request can be opened before its branch has a commit of its own; then there is nothing to tell yet.
  if (kind === null || fields.valueAt(delivery, 'object_attributes.last_commit') === null) return []
  const openedAt = fields.time(delivery, 'object_attributes.created_at')
  const updatedAt = fields.optionalTime(delivery, 'object_attributes.updated_at')
  return [
    {
      type: 'pull',
      number: fields.pullNumber(delivery, 'object_attributes.iid'),
      url: fields.webAddress(delivery, 'object_attributes.url'),
      title: fields.line(delivery, 'object_attributes.title'),
      openedAt,
      event: {
        kind,
        // It has no times of closing and merging; these are the last things that happened.
        at: kind === 'opened' ? openedAt : (updatedAt ?? openedAt),
        head: fields.commit(delivery, 'object_attributes.last_commit.id'),
        headBranch: headBranchOf(delivery),
        base: fields.refName(delivery, 'object_attributes.target_branch'),
        mergeCommit: kind === 'merged' ? mergeCommitOf(delivery) : null,
        commitCount: null,
        actor: fields.firstLine(delivery, 'user.username', 'user.name'),
      },
    },
  ]
}

function kindOf(delivery: Fields): PullEventKind | null {
  // The button "Test" sends none.
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
      return howUpdated(delivery)
    default:
      return null
  }
}

function howUpdated(delivery: Fields): PullEventKind | null {
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
  // The field `namespace` is a title for people, such as "Gitlab Org".
  const owner =
    path.slice(0, Math.max(0, path.lastIndexOf('/'))) ||
    fields.firstLine(delivery, 'object_attributes.source.namespace')
  return `${owner ?? 'unknown'}:${branch}`
}
