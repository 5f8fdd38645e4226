import { limitContainers } from '../domain/json-containers.ts'
import type { ForgeName } from '../domain/repositories/repository.ts'
import type { ForgeApi, ForgeRequest } from '../forges/forge-api.ts'
import { forgeOf } from '../forges/index.ts'
import type { RequestOptions, RequestResult } from '../net/request.ts'
import { waitOf } from './attempt.ts'
import { line } from './line.ts'

export type ForgeResult<Value> =
  | { kind: 'done'; status: number | null; value: Value }
  | {
      kind: 'failed'
      status: number | null
      /** The problem, and its fix. */
      error: string
      /** What the forge says, as one printable line. Null if it may not be shown. */
      reason: string | null
      /** Whether the forge says that the commit has this status already. */
      isDoneAlready: boolean
      /** Whether another attempt would fail the same way. */
      isFinal: boolean
      retryAfterMs?: number
    }

type Failed = Extract<ForgeResult<never>, { kind: 'failed' }>

/** Sends requests to the API of a forge with a repository's token, all of them within 45 s. */
export interface ForgeClient {
  /** `what` completes "cannot". */
  send(request: ForgeRequest, what: string): Promise<ForgeResult<unknown>>
}

interface Connection {
  forge: ForgeName
  api: ForgeApi
  token: string
  /** What the token needs, in the words of the forge. */
  scopes: string
  /** Whether to show what the server says. With servers of the operator's network, admins could explore it. */
  showsReasons: boolean
  send(url: string, options: RequestOptions): Promise<RequestResult>
}

const maxResponseBytes = 4 * 1024 * 1024
const maxReasonLength = 200
const requestTimeoutMs = 10_000
const totalTimeoutMs = 45_000

export function createForgeClient({ forge, api, token, scopes, showsReasons, send }: Connection): ForgeClient {
  const deadline = performance.now() + totalTimeoutMs
  return {
    async send({ method, url, body }, what) {
      const timeoutMs = Math.min(requestTimeoutMs, deadline - performance.now())
      const failed = failureOf(forge, what)
      if (timeoutMs <= 0) return failed(null, 'it took too long.')
      const result = await send(url, {
        method,
        headers: { ...api.headers(token), ...(body === null ? {} : { 'Content-Type': 'application/json' }) },
        body: body === null ? null : JSON.stringify(body),
        maxResponseBytes,
        timeoutMs,
      })
      const { status } = result
      if (result.kind === 'failure') {
        const isRedirect = status !== null && status >= 300 && status < 400
        return isRedirect
          ? { ...failed(status, 'the repository was renamed or moved. Change its URL.'), isFinal: true }
          : failed(status, result.reason)
      }
      const value = parsed(result.body)
      if (result.status >= 200 && result.status < 300) return { kind: 'done', status: result.status, value }
      const reason = reasonOf(api, value, token)
      const rejection = rejectionOf(failed, scopes, result, showsReasons ? reason : null)
      return { ...rejection, isDoneAlready: reason !== null && api.hasStatusAlready(reason) }
    },
  }
}

type Fail = ReturnType<typeof failureOf>

function failureOf(forge: ForgeName, what: string) {
  return (status: number | null, why: string, reason: string | null = null) =>
    ({
      kind: 'failed',
      status,
      error: `Cannot ${what} on ${forgeOf(forge).title}: ${why}`,
      reason,
      isDoneAlready: false as boolean,
      isFinal: false as boolean,
    }) as const
}

function rejectionOf(
  failed: Fail,
  scopes: string,
  { status, headers }: Extract<RequestResult, { kind: 'response' }>,
  reason: string | null,
): Failed {
  const said = `it responds with ${status}${reason === null ? '' : `, “${reason}”`}.`
  const needs = `The token needs ${scopes}.`
  const isLimited = status === 429 || (status === 403 && isRateLimit(headers))
  if (isLimited || status === 408 || status === 425 || status >= 500) {
    return { ...failed(status, said, reason), ...waitOf(headers) }
  }
  const final = (why: string) => ({ ...failed(status, why, reason), isFinal: true })
  switch (status) {
    case 401:
      return final(`${said} The token is invalid or expired. Set a new one with ${scopes}.`)
    case 403:
      return final(`${said} ${needs}`)
    case 404:
      return final(`${said} The token does not reach it, or it was deleted. ${needs}`)
    default:
      return final(said)
  }
}

/** GitHub responds with 403 to too many requests. */
function isRateLimit(headers: Record<string, string | string[] | undefined>): boolean {
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'
}

/** Only what the forge itself says: a server that repeats the request would show the token. */
function reasonOf(api: ForgeApi, body: unknown, token: string): string | null {
  const reason = api.readError(body)
  return reason === null ? null : line(reason.replaceAll(token, '…'), maxReasonLength) || null
}

/** Undefined for a body that is no JSON or was cut off. */
function parsed(body: string): unknown {
  try {
    limitContainers(Buffer.from(body))
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
