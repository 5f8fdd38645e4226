import { createHmac, randomUUID } from 'node:crypto'
import {
  commitsOf,
  type Delivery,
  type Details,
  detailsOf,
  endsOf,
  forkId,
  fullName,
  type Message,
  type PullFacts,
  refOf,
  repositoryId,
  repositoryName,
  repositoryPage,
  type Shape,
  testMerge,
} from './facts.ts'

export const gitlab: Shape = {
  push(facts) {
    const commits = commitsOf(facts)
    const isTag = refOf(facts).startsWith('refs/tags/')
    const kind = isTag ? 'tag_push' : 'push'
    return {
      event: isTag ? 'Tag Push Hook' : 'Push Hook',
      body: {
        object_kind: kind,
        event_name: kind,
        ...endsOf(facts),
        ref: refOf(facts),
        ref_protected: true,
        checkout_sha: facts.after,
        message: null,
        user_id: 7,
        user_name: 'Grace Hopper',
        user_username: facts.pusher ?? 'grace',
        user_email: '',
        project_id: repositoryId,
        project: gitlabProject(facts.defaultBranch),
        commits: commits.slice(-20).map(({ sha, message, author, at }) => ({
          id: sha,
          message,
          title: message.split('\n')[0],
          timestamp: at,
          url: `${repositoryPage('gitlab')}/-/commit/${sha}`,
          author: { ...author, email: '[REDACTED]' },
          added: [],
          modified: [],
          removed: [],
        })),
        total_commits_count: commits.length,
        push_options: {},
        repository: { name: repositoryName, homepage: repositoryPage('gitlab') },
      },
    }
  },

  pull(facts) {
    const action = gitlabActions[facts.action]
    if (action === undefined) throw new Error(`GitLab has no action for ${facts.action}`)
    return gitlabMergeRequest(facts, action)
  },

  // The payload of GitLab's "Test" button: a merge request without an action.
  ping() {
    return gitlabMergeRequest({ action: 'labeled', number: 1, head: testMerge }, undefined)
  },

  headers(event, _body, secret, deliveryId) {
    return {
      'user-agent': 'GitLab/18.0.0',
      'x-gitlab-event': event,
      'x-gitlab-instance': 'https://gitlab.example',
      'x-gitlab-webhook-uuid': randomUUID(),
      'x-gitlab-event-uuid': randomUUID(),
      'idempotency-key': deliveryId,
      'x-gitlab-token': secret,
    }
  },
}

const gitlabActions: Partial<Record<PullFacts['action'], string>> = {
  opened: 'open',
  draft_opened: 'open',
  updated: 'update',
  retargeted: 'update',
  reopened: 'reopen',
  closed: 'close',
  merged: 'merge',
  ready_for_review: 'update',
  labeled: 'update',
}

function gitlabMergeRequest(facts: PullFacts, action: string | undefined): Message {
  const details = detailsOf(facts)
  const isDraft = facts.action === 'draft_opened'
  const project = gitlabProject(details.defaultBranch)
  const fork = facts.fork && {
    ...project,
    id: forkId,
    namespace: 'A Title For People',
    path_with_namespace: `${facts.fork.owner}/${repositoryName}`,
  }
  return {
    event: 'Merge Request Hook',
    body: {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user:
        details.actor === null ? null : { id: 7, name: details.actor, username: details.actor, email: '[REDACTED]' },
      project,
      object_attributes: {
        author_id: 7,
        created_at: rubyTime(details.openedAt),
        updated_at: rubyTime(details.at),
        draft: isDraft,
        id: 900_000 + facts.number,
        iid: facts.number,
        merge_commit_sha: details.isMerged ? details.mergeCommit : null,
        merge_status: 'can_be_merged',
        merge_user_id: null,
        source_branch: details.headBranch,
        source_project_id: fork ? forkId : repositoryId,
        target_branch: details.base,
        target_project_id: repositoryId,
        title: isDraft ? `Draft: ${details.title}` : details.title,
        url: `${repositoryPage('gitlab')}/-/merge_requests/${facts.number}`,
        source: facts.fork?.deleted ? null : (fork ?? project),
        target: project,
        last_commit: {
          id: facts.head,
          message: 'Change a prompt\n',
          timestamp: details.openedAt,
          author: { name: 'Ada Lovelace', email: '[REDACTED]' },
        },
        state: details.isMerged ? 'merged' : details.isClosed ? 'closed' : 'opened',
        detailed_merge_status: details.isClosed ? 'not_open' : 'mergeable',
        ...(action !== undefined && { action }),
        ...(facts.action === 'updated' && { oldrev: testMerge }),
      },
      labels: [],
      changes: gitlabChanges(facts, details),
      repository: { name: repositoryName, homepage: repositoryPage('gitlab') },
    },
  }
}

function gitlabChanges(facts: PullFacts, details: Details): object {
  const updated_at = { previous: rubyTime(details.openedAt), current: rubyTime(details.at) }
  switch (facts.action) {
    case 'retargeted':
      return { updated_at, target_branch: { previous: facts.previousBase ?? 'develop', current: details.base } }
    case 'ready_for_review':
      return { updated_at, draft: { previous: true, current: false } }
    case 'labeled':
      return {
        updated_at,
        labels: {
          previous: (facts.labels?.before ?? []).map((title) => ({ id: 1, title })),
          current: (facts.labels?.after ?? ['prompts']).map((title) => ({ id: 1, title })),
        },
      }
    default:
      return { updated_at }
  }
}

function gitlabProject(defaultBranch = 'main'): object {
  return {
    id: repositoryId,
    name: repositoryName,
    web_url: repositoryPage('gitlab'),
    namespace: 'Acme Limited',
    path_with_namespace: fullName,
    default_branch: defaultBranch,
    homepage: repositoryPage('gitlab'),
  }
}

/** 2023-12-05 18:43:00 UTC */
function rubyTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** A GitLab delivery with a signature (Standard Webhooks) instead of a token. */
export function gitlabSigned(secret: string, event: string, body: Buffer, now: number): Delivery {
  const id = randomUUID()
  const timestamp = String(Math.floor(now / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return {
    headers: {
      'content-type': 'application/json',
      'x-gitlab-event': event,
      'idempotency-key': id,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  }
}
