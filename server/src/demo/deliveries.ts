import type { NewDelivery } from '../domain/repositories/delivery.ts'
import { isoTime } from '../domain/time.ts'
import { type Person, reviewerOf } from './people.ts'
import type { PullStep } from './repository.ts'

const page = 'https://github.com/acme/prompts'
const repository = { id: 1, full_name: 'acme/prompts', html_url: page, default_branch: 'main' }

/** The delivery that GitHub would have sent, with the fields that a sync reads. */
export function deliveryOf(
  { kind, at, number, openedAt, branch, change, head, landing }: PullStep,
  place: number,
): NewDelivery {
  const { author, title } = change
  const isClosed = kind !== 'opened'
  const isMerged = landing !== null
  const sender = user(isClosed ? reviewerOf(author) : author)
  const body = {
    action: isClosed ? 'closed' : 'opened',
    number,
    pull_request: {
      number,
      html_url: `${page}/pull/${number}`,
      title,
      state: isClosed ? 'closed' : 'open',
      user: user(author),
      created_at: isoTime(openedAt),
      updated_at: isoTime(at),
      closed_at: isClosed ? isoTime(at) : null,
      merged: isMerged,
      merged_at: isMerged ? isoTime(at) : null,
      merged_by: isMerged ? sender : null,
      merge_commit_sha: landing,
      head: { ref: branch, sha: head, repo: repository },
      base: { ref: 'main', repo: repository },
      commits: 1,
    },
    repository,
    sender,
  }
  // Deliveries that are received together are stored in the order of their IDs.
  const deliveryId = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`
  return { deliveryId, event: 'pull_request', body: JSON.stringify(body), receivedAt: at }
}

function user({ login }: Person): object {
  return { login, html_url: `https://github.com/${login}` }
}
