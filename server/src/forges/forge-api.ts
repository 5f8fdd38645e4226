import type { Instant } from '../domain/time.ts'

/** One request to the API of a forge, without its token. */
export interface ForgeRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  url: string
  body: object | null
}

export interface CommitStatus {
  /** Identifies the status among those of other systems. The next one with it replaces this one. */
  context: string
  /** A short form of the context, of letters, digits and dashes. */
  key: string
  isFailure: boolean
  /** At most 140 characters. */
  description: string
  /** Where the status links to. */
  url: string
}

/** A comment as the forge lists it. */
export interface ListedComment {
  id: string
  text: string
}

/** What differs between the REST APIs of forges. Requests are values: alerts/pull-comment.ts sends them. */
export interface ForgeApi {
  /** Where the API has the repository, from its https or http URL. Null if the URL is not that of a repository there. */
  repositoryUrl(url: string): string | null
  /** The headers of every request. */
  headers(token: string): Record<string, string>
  createComment(repositoryUrl: string, pull: number, text: string): ForgeRequest
  editComment(repositoryUrl: string, pull: number, commentId: string, text: string): ForgeRequest
  /**
   * One page of the comments on a pull request, starting at 1. Null if the forge has no such page. `since` may leave out comments
   * that were last edited before.
   */
  listComments(repositoryUrl: string, pull: number, page: number, since: Instant): ForgeRequest | null
  setStatus(repositoryUrl: string, sha: string, status: CommitStatus): ForgeRequest
  /** The ID in the response to a new comment. Null if it has none. */
  readCommentId(body: unknown): string | null
  /** The comments in the response to a list. */
  readComments(body: unknown): ListedComment[]
  /** What the forge says is wrong. Null if it says nothing. */
  readError(body: unknown): string | null
  /** Whether a rejected status says that the commit has it already. */
  hasStatusAlready(error: string): boolean
  /** The longest comment that the forge accepts. */
  maxCommentLength: number
}

/** How many comments one page has. With more, a response could exceed the limit for reading it. */
export const commentsPerPage = 20

/** Server and path of a repository's URL, such as `https://git.example:3000` and `['acme', 'prompts']`. Null for other URLs. */
export function repositoryAddress(text: string): { server: string; host: string; path: string[] } | null {
  const url = /^https?:/.test(text) ? URL.parse(text) : null
  if (url === null) return null
  const path = decoded(url.pathname.replace(/\/+$/, '').replace(/\.git$/, ''))
    ?.split('/')
    .filter(Boolean)
  if (path === undefined || path.length < 2 || path.some((part) => part === '.' || part === '..')) return null
  return { server: `${url.protocol}//${url.host}`, host: url.hostname.toLowerCase().replace(/\.$/, ''), path }
}

/** The path of a repository that has one owner, encoded. Null for more or fewer segments. */
export function ownerAndName(path: string[]): string | null {
  return path.length === 2 ? path.map(encodeURIComponent).join('/') : null
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** A member of a JSON object. Undefined if the value is no object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** A number as the ID of a comment. Text would become part of the path of a later request. */
export function idOf(value: unknown): string | null {
  const id = member(value, 'id')
  return Number.isSafeInteger(id) && (id as number) > 0 ? String(id) : null
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** A comment of a list, whose text is in the member `body`. Empty if it is malformed. */
export function commentOf(value: unknown): ListedComment[] {
  const [id, text] = [idOf(value), member(value, 'body')]
  return id === null || typeof text !== 'string' ? [] : [{ id, text }]
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
