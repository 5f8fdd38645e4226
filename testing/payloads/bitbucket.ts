import {
  commitsOf,
  detailsOf,
  firstInstant,
  fullName,
  hmac,
  type PullFacts,
  refOf,
  repositoryName,
  repositoryPage,
  type Shape,
  testMerge,
} from './facts.ts'

export const bitbucket: Shape = {
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
    if (event === undefined) throw new Error(`Bitbucket has no event for ${facts.action}`)
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
          links: { html: { href: `${repositoryPage('bitbucket')}/pull-requests/${facts.number}` } },
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

// Any other change is "updated"; a declined pull request cannot be reopened.
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
    uuid: `{${name}}`,
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
