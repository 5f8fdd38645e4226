import { createHmac } from 'node:crypto'
import {
  type Commit,
  commitsOf,
  detailsOf,
  endsOf,
  firstInstant,
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
import { githubActions } from './github.ts'

export function giteaFamily(forge: 'gitea' | 'forgejo'): Shape {
  const page = repositoryPage(forge)

  const user = (login: string | null): object | null =>
    login === null
      ? null
      : {
          id: 7,
          login,
          username: login,
          full_name: '',
          email: `${login}@noreply.${forge}.example`,
          visibility: 'public',
        }

  const repository = (defaultBranch = 'main'): object => ({
    id: repositoryId,
    owner: user(owner),
    name: repositoryName,
    full_name: fullName,
    private: true,
    fork: false,
    html_url: page,
    default_branch: defaultBranch,
    updated_at: firstInstant,
    archived_at: '1970-01-01T00:00:00Z',
  })

  const commit = ({ sha, message, author, at }: Commit): object => ({
    id: sha,
    message,
    url: `${page}/commit/${sha}`,
    author: { ...author, username: '' },
    committer: { ...author, username: '' },
    verification: null,
    timestamp: at,
    added: [],
    removed: [],
    modified: [],
  })

  return {
    push(facts) {
      const commits = commitsOf(facts).reverse()
      return {
        event: 'push',
        body: {
          ref: refOf(facts),
          ...endsOf(facts),
          compare_url: `${page}/compare/a...b`,
          commits: commits.slice(0, 5).map(commit),
          total_commits: commits.length,
          head_commit: facts.after === null ? null : (commits.slice(0, 1).map(commit)[0] ?? null),
          repository: repository(facts.defaultBranch),
          pusher: user(facts.pusher ?? 'grace'),
          sender: user(facts.pusher ?? 'grace'),
        },
      }
    },

    pull(facts) {
      const details = detailsOf(facts)
      const isDraft = facts.action === 'draft_opened'
      const isGone = facts.fork?.deleted === true
      const home = repository(details.defaultBranch)
      const fork = facts.fork && { ...home, id: forkId, owner: user(facts.fork.owner), fork: true }
      return {
        event: 'pull_request',
        body: {
          action: facts.labels?.after.length === 0 ? 'label_cleared' : giteaActions[facts.action],
          number: facts.number,
          ...(facts.action === 'retargeted' && { changes: { ref: { from: facts.previousBase ?? 'develop' } } }),
          ...(facts.action === 'ready_for_review' && { changes: { title: { from: `WIP: ${details.title}` } } }),
          pull_request: {
            id: 900_000 + facts.number,
            url: `${page}/pulls/${facts.number}`,
            number: facts.number,
            user: user(details.author),
            title: isDraft ? `WIP: ${details.title}` : details.title,
            ...(facts.labels && { labels: facts.labels.after.map((name, i) => ({ id: i, name, color: 'ededed' })) }),
            body: '',
            state: details.isClosed ? 'closed' : 'open',
            draft: isDraft,
            html_url: `${page}/pulls/${facts.number}`,
            mergeable: true,
            merged: details.isMerged,
            merged_at: details.isMerged ? details.at : null,
            merge_commit_sha: details.isMerged ? details.mergeCommit : null,
            merged_by: details.isMerged ? user(details.actor) : null,
            base: { label: details.base, ref: details.base, sha: testMerge, repo_id: repositoryId, repo: home },
            head: {
              label: details.headBranch,
              ref: isGone ? `refs/pull/${facts.number}/head` : details.headBranch,
              sha: facts.head,
              repo_id: isGone ? -1 : fork ? forkId : repositoryId,
              repo: isGone ? null : (fork ?? home),
            },
            merge_base: facts.mergeBase ?? testMerge,
            due_date: null,
            created_at: details.openedAt,
            updated_at: details.at,
            closed_at: details.isClosed ? details.at : null,
          },
          requested_reviewer: null,
          repository: home,
          sender: user(details.actor),
          commit_id: '',
          review: null,
        },
      }
    },

    ping() {
      return { event: 'repository', body: { action: 'created', repository: repository(), sender: user('grace') } }
    },

    headers(event, body, secret, deliveryId) {
      const signature = hmac(secret, body)
      const names = forge === 'forgejo' ? ['forgejo', 'gitea', 'gogs'] : ['gitea', 'gogs']
      return {
        ...Object.fromEntries(
          names.flatMap((name) => [
            [`x-${name}-event`, event],
            [`x-${name}-event-type`, event],
            [`x-${name}-delivery`, deliveryId],
            [`x-${name}-signature`, signature],
          ]),
        ),
        'x-github-event': event,
        'x-github-event-type': event,
        'x-github-delivery': deliveryId,
        'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
        'x-hub-signature-256': `sha256=${signature}`,
      }
    },
  }
}

const giteaActions: Record<PullFacts['action'], string> = {
  ...githubActions,
  updated: 'synchronized',
  ready_for_review: 'edited',
  labeled: 'label_updated',
}
