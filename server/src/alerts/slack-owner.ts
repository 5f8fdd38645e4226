import { hash } from 'node:crypto'
import { createBoundedMap } from '../domain/bounded-map.ts'
import { day, hour, type Instant, minute } from '../domain/time.ts'
import { sendRequest } from '../net/request.ts'
import type { ChannelContext } from './context.ts'

/** The member of a Slack workspace with an email address. */
interface SlackOwner {
  /** Null if there is none, or Slack did not say. */
  id: string | null
  /** What to change about the token. Null if it works, as far as we know. */
  problem: string | null
}

export type FindSlackOwner = (token: string, email: string) => Promise<SlackOwner>

// The message waits for it.
const timeoutMs = 3_000
const maxResponseBytes = 65_536
const maxCached = 1_000

const problems: Record<string, string> = {
  missing_scope: 'its token lacks the scope users:read.email.',
  invalid_auth: 'Slack does not accept its token. Set a new one.',
  not_authed: 'Slack does not accept its token. Set a new one.',
  token_revoked: 'its token was revoked. Set a new one.',
  token_expired: 'its token has expired. Set a new one.',
  account_inactive: 'the app of its token is no longer installed in the workspace. Set a new one.',
}

/** Asks Slack, with a bot token, who has an address. Failures are remembered too, so that an outage of Slack delays few messages. */
export function createFindSlackOwner({ network, clock, slackApiUrl }: ChannelContext): FindSlackOwner {
  const cache = createBoundedMap<{ owner: SlackOwner; until: Instant }>(maxCached)
  const url = `${slackApiUrl ?? 'https://slack.com/api'}/users.lookupByEmail?email=`

  return async (token, email) => {
    const key = hash('sha256', `${token} ${email}`)
    const known = cache.get(key)
    if (known !== undefined && known.until > clock()) return known.owner
    const headers = { authorization: `Bearer ${token}` }
    const options = { method: 'GET', headers, timeoutMs, maxResponseBytes } as const
    const result = await sendRequest(network, url + encodeURIComponent(email.toWellFormed()), options)
    const { owner, validMs } = result.kind === 'response' ? readOwner(result.body) : unknown
    cache.set(key, { owner, until: clock() + validMs })
    return owner
  }
}

const unknown = { owner: { id: null, problem: null }, validMs: 5 * minute }

function readOwner(body: string): { owner: SlackOwner; validMs: number } {
  const { ok, error, user } = parse(body)
  const id = ok === true && user?.deleted !== true ? user?.id : undefined
  // It becomes part of a message, in which Slack replaces what is between < and >.
  if (typeof id === 'string' && /^[UW][A-Z0-9]{1,30}$/.test(id)) return { owner: { id, problem: null }, validMs: day }
  if (ok === true || error === 'users_not_found') return { owner: unknown.owner, validMs: hour }
  const problem = typeof error === 'string' && Object.hasOwn(problems, error) ? (problems[error] as string) : null
  return { owner: { id: null, problem }, validMs: unknown.validMs }
}

function parse(body: string): { ok?: unknown; error?: unknown; user?: { id?: unknown; deleted?: unknown } | null } {
  try {
    return Object(JSON.parse(body))
  } catch {
    return {}
  }
}
