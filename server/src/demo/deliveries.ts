import { randomUUID } from 'node:crypto'
import type { NewDelivery } from '../domain/repositories/delivery.ts'
import { isoTime } from '../domain/time.ts'
import { type Person, reviewerOf } from './people.ts'
import type { PullStep } from './repository.ts'

const page = 'https://github.com/acme/prompts'
const repository = { id: 1, full_name: 'acme/prompts', html_url: page, default_branch: 'main' }

/** What GitHub would have sent of it: as much as is read. */
export function deliveryOf({ kind, at, number, openedAt, branch, change, head, landing }: PullStep): NewDelivery {
  const { author, title } = change
  const isOver = kind !== 'opened'
  const isMerged = landing !== null
  const sender = user(isOver ? reviewerOf(author) : author)
  const body = {
    action: isOver ? 'closed' : 'opened',
    number,
    pull_request: {
      number,
      html_url: `${page}/pull/${number}`,
      title,
      state: isOver ? 'closed' : 'open',
      user: user(author),
      created_at: isoTime(openedAt),
      updated_at: isoTime(at),
      closed_at: isOver ? isoTime(at) : null,
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
  return { deliveryId: randomUUID(), event: 'pull_request', body: JSON.stringify(body), receivedAt: at }
}

function user({ login }: Person): object {
  return { login, html_url: `https://github.com/${login}` }
}
