import { randomBytes } from 'node:crypto'
import type { PullEventKind, PullReport } from '../domain/history/pull.ts'
import type { PushReport, Report } from '../domain/history/report.ts'
import type { Instant } from '../domain/time.ts'
import type { Forge } from './forge.ts'
import { forgeText, mention, numberAt, numberAtEnd } from './merge-reference.ts'
import type { Fields } from './payload-fields.ts'
import * as fields from './payload-fields.ts'
import { firstPrintableHeader, isSignedWith, sha256Header } from './webhook-signature.ts'

/** Bitbucket Cloud. It omits the default branch and shortens a pull request's commit hashes to twelve digits. */
export const bitbucket: Forge = {
  title: 'Bitbucket',
  tokenUser: 'x-token-auth',

  signatureHeaders: ['x-hub-signature'],

  verifySignature({ headers, body }, secrets) {
    return isSignedWith(secrets, body, sha256Header(headers, 'x-hub-signature'))
  },

  readHeaders(headers) {
    return {
      event: firstPrintableHeader(headers, ['x-event-key']) ?? '',
      deliveryId: firstPrintableHeader(headers, ['x-request-uuid']),
    }
  },

  readBody(event, body, receivedAt) {
    const delivery = fields.parseFields(body)
    const events = eventsOf(event, delivery, receivedAt)
    return {
      repository: fields.identity(delivery, {
        ids: ['repository.uuid'],
        fullName: 'repository.full_name',
        webUrl: 'repository.links.html.href',
      }),
      webUrl: fields.repositoryUrl(delivery, 'repository.links.html.href'),
      defaultBranch: null,
      events,
      note: events[0]?.type === 'pull' ? fields.missingTimeNote(delivery, 'pullrequest.created_on') : null,
    }
  },

  generateSecret() {
    return randomBytes(32).toString('hex')
  },

  pullRef() {
    return null
  },

  // Of Bitbucket Data Center.
  pullRefPattern: 'refs/pull-requests/*/from',
  keepsPullRefs: false,
  namesPagesInMessages: false,

  commitPath(sha) {
    return `/commits/${sha}`
  },

  pullPath(number) {
    return `/pull-requests/${number}`
  },

  // Merged in branch (pull request #1). A branch name has no space.
  mergeReference({ subject }) {
    const prefix = 'Merged in '
    if (!subject.startsWith(prefix)) return mention(numberAtEnd(subject, ['pull request #']))
    return forgeText(numberAt(subject, subject.indexOf(' ', prefix.length), ' (pull request #', ')'))
  },

  // The committer is the user who clicked, so there is no way to tell.
  isForgeCommitter() {
    return false
  },

  setUpSteps({ url, secret, webUrl }) {
    return [
      `Open ${webUrl}/admin/webhooks and click "Add webhook".`,
      `Title: Promptledger, URL: ${url}, Secret: ${secret}`,
      'Choose from a full list of triggers; select Repository: Push and Pull request: Created, Updated, Merged, Declined.',
      'Leave Active selected and click "Save".',
    ]
  },
}

const kinds: Record<string, PullEventKind> = {
  'pullrequest:created': 'opened',
  // Bitbucket sends the same event for new commits, a new destination and a new title.
  'pullrequest:updated': 'updated',
  'pullrequest:fulfilled': 'merged',
  'pullrequest:rejected': 'closed',
}

function eventsOf(event: string, delivery: Fields, receivedAt: Instant): Report['events'] {
  if (event === 'repo:push') return pushesOf(delivery)
  const kind = Object.hasOwn(kinds, event) ? kinds[event] : undefined
  return kind === undefined ? [] : [pullOf(kind, delivery, receivedAt)]
}

function pushesOf(delivery: Fields): PushReport[] {
  const pusher = fields.firstLine(delivery, 'actor.nickname', 'actor.display_name')
  return fields.objects(delivery, 'push.changes').flatMap((change): PushReport[] => {
    const side = fields.valueAt(change, 'new') === null ? 'old' : 'new'
    if (fields.text(change, `${side}.type`) !== 'branch') return []
    return [
      {
        type: 'push',
        branch: fields.refName(change, `${side}.name`),
        before: fields.optionalCommit(change, 'old.target.hash'),
        after: fields.optionalCommit(change, 'new.target.hash'),
        pusher,
      },
    ]
  })
}

function pullOf(kind: PullEventKind, delivery: Fields, receivedAt: Instant): PullReport {
  const times = fields.pullTimes(kind, {
    created: fields.optionalTime(delivery, 'pullrequest.created_on'),
    happened: fields.optionalTime(delivery, 'pullrequest.updated_on'),
    receivedAt,
  })
  return {
    type: 'pull',
    number: fields.pullNumber(delivery, 'pullrequest.id'),
    url: fields.webUrl(delivery, 'pullrequest.links.html.href'),
    title: fields.line(delivery, 'pullrequest.title'),
    openedAt: times.openedAt,
    event: {
      kind,
      ...times.event,
      head: fields.commit(delivery, 'pullrequest.source.commit.hash'),
      headBranch: headBranchOf(delivery),
      base: fields.refName(delivery, 'pullrequest.destination.branch.name'),
      mergeCommit: kind === 'merged' ? fields.optionalCommit(delivery, 'pullrequest.merge_commit.hash') : null,
      commitCount: null,
      mergeBase: null,
      actor: actorOf(kind, delivery),
    },
  }
}

function headBranchOf(delivery: Fields): string {
  const branch = fields.refName(delivery, 'pullrequest.source.branch.name')
  // Null if the fork was deleted.
  const [source, destination] = ['source', 'destination'].map((side) =>
    fields.firstLine(delivery, `pullrequest.${side}.repository.full_name`),
  )
  if (source === destination) return branch
  return `${source?.split('/')[0] || 'unknown'}:${branch}`
}

function actorOf(kind: PullEventKind, delivery: Fields): string | null {
  const first = { opened: ['pullrequest.author'], merged: ['pullrequest.closed_by'] }
  const people = [...(kind === 'opened' || kind === 'merged' ? first[kind] : []), 'actor']
  return fields.firstLine(delivery, ...people.flatMap((path) => [`${path}.nickname`, `${path}.display_name`]))
}
