import { createHmac, randomUUID } from 'node:crypto'

// Deliveries as the forges send them: what they really send that matters, and what could mislead a reader.

export type ForgeName = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'

export interface Delivery {
  headers: Record<string, string>
  body: Buffer
}

export interface PushFacts {
  /** `main` unless told. */
  branch?: string
  /** The whole ref instead, such as that of a tag. */
  ref?: string
  before: string | null
  after: string | null
  /** From old to new. */
  commits?: { sha: string; message?: string; author?: { name: string; email: string }; at?: string }[]
  pusher?: string
  defaultBranch?: string
  forced?: boolean
}

export interface PullFacts {
  action:
    | 'opened'
    | 'updated'
    | 'retargeted'
    | 'reopened'
    | 'closed'
    | 'merged'
    | 'unclear'
    | 'draft_opened'
    | 'ready_for_review'
    | 'labeled'
  number: number
  head: string
  /** `feature` unless told. */
  headBranch?: string
  fork?: { owner: string; deleted?: boolean }
  /** `main` unless told. */
  base?: string
  previousBase?: string
  mergeCommit?: string | null
  /** The commit by which GitHub tried the merge; it is in no branch. */
  testMergeCommit?: string | null
  commitCount?: number
  openedAt?: string
  at?: string
  author?: string | null
  actor?: string | null
  title?: string
  defaultBranch?: string
}

interface Message {
  event: string
  body: object
}

interface Shape {
  push(facts: PushFacts): Message
  pull(facts: PullFacts): Message
  /** Something that happens and tells nothing. */
  ping(): Message
  headers(event: string, body: Buffer, secret: string, deliveryId: string): Record<string, string>
}

export interface Deliveries {
  push(facts: PushFacts): Delivery
  pull(facts: PullFacts): Delivery
  ping(): Delivery
  signed(event: string, body: Buffer, deliveryId?: string): Delivery
}

/** Builds deliveries of a forge about the repository acme/prompts, signed with the secret. */
export function deliveries(forge: ForgeName, secret: string): Deliveries {
  const shape = shapes[forge]
  const signed = (event: string, body: Buffer, deliveryId: string = randomUUID()): Delivery => ({
    headers: { 'content-type': 'application/json', ...shape.headers(event, body, secret, deliveryId) },
    body,
  })
  const send = ({ event, body }: Message) => signed(event, Buffer.from(JSON.stringify(body)))
  return {
    push: (facts) => send(shape.push(facts)),
    pull: (facts) => send(shape.pull(facts)),
    ping: () => send(shape.ping()),
    signed,
  }
}

/** A GitLab delivery with a signature (Standard Webhooks) instead of the token. */
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

/** The page of the repository that the deliveries of a forge are about. */
export function pageOf(forge: ForgeName): string {
  return `https://${forge}.example/acme/prompts`
}

const owner = 'acme'
const repositoryName = 'prompts'
const fullName = `${owner}/${repositoryName}`
const repositoryId = 4711
const forkId = 4712
const firstInstant = '2026-03-02T09:00:00Z'
const nextInstant = '2026-03-02T10:00:00Z'
const testMerge = 'decade0000000000000000000000000000decade'

function hmac(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** A place without a commit is written as zeros, as many as the other one has digits. */
function ends({ before, after }: PushFacts): { before: string; after: string } {
  const none = '0'.repeat((before ?? after)?.length ?? 40)
  return { before: before ?? none, after: after ?? none }
}

function refOf({ ref, branch = 'main' }: PushFacts): string {
  return ref ?? `refs/heads/${branch}`
}

interface Commit {
  sha: string
  message: string
  author: { name: string; email: string }
  at: string
}

function commitsOf({ commits = [] }: PushFacts): Commit[] {
  const author = { name: 'Ada Lovelace', email: 'ada@acme.example' }
  return commits.map((commit) => ({ message: 'Change a prompt\n', author, at: firstInstant, ...commit }))
}

interface Details {
  headBranch: string
  base: string
  mergeCommit: string | null
  openedAt: string
  at: string
  author: string | null
  actor: string | null
  title: string
  defaultBranch: string
  isOpening: boolean
  isMerged: boolean
  isClosed: boolean
}

function detailsOf(facts: PullFacts): Details {
  const isOpening = facts.action === 'opened' || facts.action === 'draft_opened'
  const openedAt = facts.openedAt ?? (isOpening ? facts.at : undefined) ?? firstInstant
  const author = facts.author === undefined ? 'ada' : facts.author
  return {
    headBranch: facts.headBranch ?? 'feature',
    base: facts.base ?? 'main',
    mergeCommit: facts.mergeCommit ?? null,
    openedAt,
    at: facts.at ?? (isOpening ? openedAt : nextInstant),
    author,
    actor: facts.actor === undefined ? (isOpening ? author : 'grace') : facts.actor,
    title: facts.title ?? 'Change a prompt',
    defaultBranch: facts.defaultBranch ?? 'main',
    isOpening,
    isMerged: facts.action === 'merged',
    isClosed: facts.action === 'merged' || facts.action === 'closed',
  }
}

const github: Shape = {
  push(facts) {
    const { before, after } = ends(facts)
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
        compare: `${pageOf('github')}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
        commits,
        head_commit: facts.after === null ? null : (commits.at(-1) ?? null),
        // In a push this time is a number, elsewhere a text.
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
        action: githubActions[facts.action],
        number: facts.number,
        pull_request: {
          id: 900_000 + facts.number,
          number: facts.number,
          html_url: `${pageOf('github')}/pull/${facts.number}`,
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
        },
        ...(facts.action === 'updated' && { before: testMerge, after: facts.head }),
        ...(facts.action === 'retargeted' && {
          changes: { base: { ref: { from: facts.previousBase ?? 'develop' }, sha: { from: testMerge } } },
        }),
        ...(facts.action === 'labeled' && { label: { id: 1, name: 'prompts' } }),
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

const githubActions: Record<PullFacts['action'], string> = {
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
    html_url: pageOf('github'),
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

function giteaFamily(forge: 'gitea' | 'forgejo'): Shape {
  const page = pageOf(forge)

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
          ...ends(facts),
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
          action: giteaActions[facts.action],
          number: facts.number,
          ...(facts.action === 'retargeted' && { changes: { ref: { from: facts.previousBase ?? 'develop' } } }),
          ...(facts.action === 'ready_for_review' && { changes: { title: { from: `WIP: ${details.title}` } } }),
          pull_request: {
            id: 900_000 + facts.number,
            url: `${page}/pulls/${facts.number}`,
            number: facts.number,
            user: user(details.author),
            title: isDraft ? `WIP: ${details.title}` : details.title,
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
            merge_base: testMerge,
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

const gitlab: Shape = {
  push(facts) {
    const commits = commitsOf(facts)
    const isTag = refOf(facts).startsWith('refs/tags/')
    const kind = isTag ? 'tag_push' : 'push'
    return {
      event: isTag ? 'Tag Push Hook' : 'Push Hook',
      body: {
        object_kind: kind,
        event_name: kind,
        ...ends(facts),
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
          url: `${pageOf('gitlab')}/-/commit/${sha}`,
          author: { ...author, email: '[REDACTED]' },
          added: [],
          modified: [],
          removed: [],
        })),
        total_commits_count: commits.length,
        push_options: {},
        repository: { name: repositoryName, homepage: pageOf('gitlab') },
      },
    }
  },

  pull(facts) {
    const action = gitlabActions[facts.action]
    if (action === undefined) throw new Error(`GitLab has nothing like ${facts.action}`)
    return gitlabMergeRequest(facts, action)
  },

  // What the button "Test" sends: a merge request, without an action.
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
        url: `${pageOf('gitlab')}/-/merge_requests/${facts.number}`,
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
      repository: { name: repositoryName, homepage: pageOf('gitlab') },
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
      return { updated_at, labels: { previous: [], current: [{ id: 1, title: 'prompts' }] } }
    default:
      return { updated_at }
  }
}

function gitlabProject(defaultBranch = 'main'): object {
  return {
    id: repositoryId,
    name: repositoryName,
    web_url: pageOf('gitlab'),
    namespace: 'Acme Limited',
    path_with_namespace: fullName,
    default_branch: defaultBranch,
    homepage: pageOf('gitlab'),
  }
}

/** 2023-12-05 18:43:00 UTC */
function rubyTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const bitbucket: Shape = {
  push(facts) {
    const ref = refOf(facts)
    const type = ref.startsWith('refs/tags/') ? 'tag' : 'branch'
    const name = ref.split('/').slice(2).join('/')
    const side = (hash: string | null) =>
      hash === null
        ? null
        : { name, type, target: { type: 'commit', hash, date: firstInstant, message: 'Change a prompt\n' } }
    const commits = commitsOf(facts).reverse()
    return {
      event: 'repo:push',
      body: {
        actor: bitbucketUser(facts.pusher ?? 'grace'),
        repository: bitbucketRepository(fullName),
        push: {
          changes: [
            {
              old: side(facts.before),
              new: side(facts.after),
              created: facts.before === null,
              closed: facts.after === null,
              forced: facts.forced ?? false,
              truncated: commits.length > 5,
              commits: commits.slice(0, 5).map(({ sha, message, author, at }) => ({
                type: 'commit',
                hash: sha,
                date: at,
                message,
                author: { type: 'author', raw: `${author.name} <${author.email}>` },
              })),
            },
          ],
        },
      },
    }
  },

  pull(facts) {
    const event = bitbucketEvents[facts.action]
    if (event === undefined) throw new Error(`Bitbucket has nothing like ${facts.action}`)
    const details = detailsOf(facts)
    const commit = (hash: string) => ({ type: 'commit', hash: hash.slice(0, 12) })
    const source = facts.fork ? `${facts.fork.owner}/${repositoryName}` : fullName
    return {
      event,
      body: {
        repository: bitbucketRepository(fullName),
        actor: bitbucketUser(details.actor),
        pullrequest: {
          type: 'pullrequest',
          id: facts.number,
          title: details.title,
          description: '',
          state: details.isMerged ? 'MERGED' : details.isClosed ? 'DECLINED' : 'OPEN',
          draft: facts.action === 'draft_opened',
          merge_commit: details.isMerged && details.mergeCommit !== null ? commit(details.mergeCommit) : null,
          close_source_branch: true,
          closed_by: details.isClosed ? bitbucketUser(details.actor) : null,
          author: bitbucketUser(details.author),
          reason: '',
          created_on: pythonTime(details.openedAt),
          updated_on: pythonTime(details.at),
          destination: {
            branch: { name: details.base },
            commit: commit(testMerge),
            repository: bitbucketRepository(fullName),
          },
          source: {
            branch: { name: details.headBranch },
            commit: commit(facts.head),
            repository: facts.fork?.deleted ? null : bitbucketRepository(source),
          },
          links: { html: { href: `${pageOf('bitbucket')}/pull-requests/${facts.number}` } },
        },
      },
    }
  },

  ping() {
    const changes = { description: { new: 'Prompts', old: '' } }
    return {
      event: 'repo:updated',
      body: { actor: bitbucketUser('grace'), repository: bitbucketRepository(fullName), changes },
    }
  },

  headers(event, body, secret, deliveryId) {
    return {
      'user-agent': 'Bitbucket-Webhooks/2.0',
      'x-event-key': event,
      'x-hook-uuid': '00000000-0000-4000-8000-000000000000',
      'x-request-uuid': deliveryId,
      'x-attempt-number': '1',
      'x-hub-signature': `sha256=${hmac(secret, body)}`,
    }
  },
}

// Whatever else changes is "updated"; nothing can be opened again.
const bitbucketEvents: Partial<Record<PullFacts['action'], string>> = {
  opened: 'pullrequest:created',
  draft_opened: 'pullrequest:created',
  updated: 'pullrequest:updated',
  retargeted: 'pullrequest:updated',
  ready_for_review: 'pullrequest:updated',
  labeled: 'pullrequest:comment_created',
  merged: 'pullrequest:fulfilled',
  closed: 'pullrequest:rejected',
}

function bitbucketUser(nickname: string | null): object | null {
  return nickname === null ? null : { type: 'user', nickname, display_name: 'A Name For People', uuid: '{7}' }
}

function bitbucketRepository(name: string): object {
  const page = `https://bitbucket.example/${name}`
  return {
    type: 'repository',
    name: repositoryName,
    full_name: name,
    scm: 'git',
    is_private: true,
    parent: null,
    links: { html: { href: page } },
  }
}

/** 2023-12-05T18:36:27.667000+00:00 */
function pythonTime(iso: string): string {
  return new Date(iso).toISOString().replace('Z', '000+00:00')
}

const shapes: Record<ForgeName, Shape> = {
  github,
  gitlab,
  gitea: giteaFamily('gitea'),
  forgejo: giteaFamily('forgejo'),
  bitbucket,
}
