import { createHmac } from 'node:crypto'
import {
  type Commit,
  commitsOf,
  detailsOf,
  endsOf,
  forkId,
  fullName,
  hmac,
  owner,
  type PullFacts,
  refOf,
  repositoryId,
  repositoryName,
  repositoryPage,
  type Shape,
  testMerge,
} from './facts.ts'

export const github: Shape = {
  push(facts) {
    const { before, after } = endsOf(facts)
    const commits = commitsOf(facts).slice(-2048).map(githubCommit)
    return {
      event: 'push',
      body: {
        ref: refOf(facts),
        before,
        after,
        base_ref: null,
        created: facts.before === null,
        deleted: facts.after === null,
        forced: facts.forced ?? false,
        compare: `${repositoryPage('github')}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
        commits,
        head_commit: facts.after === null ? null : (commits.at(-1) ?? null),
        // `pushed_at` is a number in a push and a string elsewhere.
        repository: { ...githubRepository(facts.defaultBranch), pushed_at: 1_772_442_000, master_branch: 'main' },
        pusher: { name: facts.pusher ?? 'grace', email: 'grace@acme.example' },
        sender: githubUser(facts.pusher ?? 'grace'),
      },
    }
  },

  pull(facts) {
    const details = detailsOf(facts)
    const repository = githubRepository(details.defaultBranch)
    const headOwner = facts.fork?.owner ?? owner
    const fork = {
      ...repository,
      id: forkId,
      full_name: `${headOwner}/${repositoryName}`,
      owner: githubUser(headOwner),
      fork: true,
    }
    const { testMergeCommit = details.isOpening ? null : testMerge } = facts
    const closing = details.isClosed ? details.at : null
    return {
      event: 'pull_request',
      body: {
        action: isRemoval(facts) ? 'unlabeled' : githubActions[facts.action],
        number: facts.number,
        pull_request: {
          id: 900_000 + facts.number,
          number: facts.number,
          html_url: `${repositoryPage('github')}/pull/${facts.number}`,
          state: details.isClosed ? 'closed' : 'open',
          locked: false,
          title: details.title,
          user: githubUser(details.author),
          body: null,
          created_at: details.openedAt,
          updated_at: details.at,
          closed_at: closing,
          merged_at: details.isMerged ? details.at : null,
          merge_commit_sha: details.isMerged ? details.mergeCommit : testMergeCommit,
          draft: facts.action === 'draft_opened',
          head: {
            label: `${headOwner}:${details.headBranch}`,
            ref: details.headBranch,
            sha: facts.head,
            user: githubUser(headOwner),
            repo: facts.fork === undefined ? repository : facts.fork.deleted ? null : fork,
          },
          base: {
            label: `${owner}:${details.base}`,
            ref: details.base,
            sha: testMerge,
            user: githubUser(owner),
            repo: repository,
          },
          merged: details.isMerged,
          mergeable: null,
          merged_by: details.isMerged ? githubUser(details.actor) : null,
          commits: facts.commitCount ?? 1,
          changed_files: 1,
          ...(facts.labels && { labels: facts.labels.after.map((name, i) => ({ id: i, name, color: 'ededed' })) }),
        },
        ...(facts.action === 'updated' && { before: testMerge, after: facts.head }),
        ...(facts.action === 'retargeted' && {
          changes: { base: { ref: { from: facts.previousBase ?? 'develop' }, sha: { from: testMerge } } },
        }),
        ...(facts.action === 'labeled' && { label: { id: 1, name: changedLabel(facts) ?? 'prompts' } }),
        repository: { ...repository, pushed_at: details.at },
        sender: githubUser(details.actor),
      },
    }
  },

  ping() {
    const hook = { type: 'Repository', id: 1, events: ['push', 'pull_request'], active: true }
    return {
      event: 'ping',
      body: { zen: 'Keep it simple.', hook_id: 1, hook, repository: githubRepository(), sender: githubUser('grace') },
    }
  },

  headers(event, body, secret, deliveryId) {
    return {
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-event': event,
      'x-github-delivery': deliveryId,
      'x-github-hook-id': '1',
      'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
    }
  },
}

export const githubActions: Record<PullFacts['action'], string> = {
  opened: 'opened',
  draft_opened: 'opened',
  updated: 'synchronize',
  retargeted: 'edited',
  reopened: 'reopened',
  closed: 'closed',
  merged: 'closed',
  unclear: 'closed',
  ready_for_review: 'ready_for_review',
  labeled: 'labeled',
}

function isRemoval({ labels }: PullFacts): boolean {
  return labels !== undefined && labels.after.length < labels.before.length
}

function changedLabel({ labels = { before: [], after: [] } }: PullFacts): string | undefined {
  const { before, after } = labels
  return [...after.filter((name) => !before.includes(name)), ...before.filter((name) => !after.includes(name))][0]
}

function githubUser(login: string | null): object | null {
  return login === null ? null : { login, id: 7, type: 'User', html_url: `https://github.example/${login}` }
}

function githubRepository(defaultBranch = 'main'): object {
  return {
    id: repositoryId,
    name: repositoryName,
    full_name: fullName,
    private: true,
    owner: githubUser(owner),
    html_url: repositoryPage('github'),
    fork: false,
    default_branch: defaultBranch,
  }
}

function githubCommit({ sha, message, author, at }: Commit): object {
  return {
    id: sha,
    distinct: true,
    message: message.trimEnd(),
    timestamp: at,
    author: { ...author, username: 'ada' },
    committer: { name: 'GitHub', email: 'noreply@github.com', username: 'web-flow' },
    added: [],
    removed: [],
    modified: [],
  }
}
