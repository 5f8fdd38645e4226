import { isWebUrl } from '../domain/history/entry.ts'
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

/** A pull request to open. */
interface NewPull {
  title: string
  text: string
  /** The branch of the same repository to merge, and the one to merge it into. */
  branch: string
  base: string
}

/** A pull request as the forge describes it. */
export interface KnownPull {
  number: number
  url: string
  /** Null for a branch of another repository, which anyone can name as they like. */
  branch: string | null
  state: 'open' | 'merged' | 'closed'
}

/** An issue as the forge describes it. */
export interface KnownIssue {
  number: number
  text: string
  isOpen: boolean
}

/** What to change about an issue. */
interface IssueChange {
  text: string
  /** Absent to leave it as it is. */
  isOpen?: boolean
}

/** What differs between the issues of forges. */
export interface IssueApi {
  /** One page, starting at 1, the newest first, open or not. */
  list(repositoryUrl: string, page: number): ForgeRequest
  get(repositoryUrl: string, number: number): ForgeRequest
  create(repositoryUrl: string, issue: { title: string; text: string }): ForgeRequest
  edit(repositoryUrl: string, number: number, change: IssueChange): ForgeRequest
  /** The issues in a response to any of these, without those that are malformed. */
  read(body: unknown): KnownIssue[]
  createComment: ForgeApi['createComment']
  listComments: ForgeApi['listComments']
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
  /** What a user may do in the repository. Null if the forge has no labels, for which that matters. */
  readAccess(repositoryUrl: string, user: string): ForgeRequest | null
  /** Whether the response to that says that the user may write. */
  canWrite(body: unknown, user: string): boolean
  /** The repository itself: `readVisibility` tells from the response who can see it. */
  getRepository(repositoryUrl: string): ForgeRequest
  /** Only `private` if the response says so. */
  readVisibility(body: unknown): 'private' | 'public'
  /** The open pull requests of a branch, or at least those that were opened last. */
  listPulls(repositoryUrl: string, branch: string): ForgeRequest
  getPull(repositoryUrl: string, number: number): ForgeRequest
  createPull(repositoryUrl: string, pull: NewPull): ForgeRequest
  /** The pull requests in a response to any of these, without those that are malformed. */
  readPulls(body: unknown): KnownPull[]
  /** What to request to find out who wrote and who reviewed a pull request. */
  listPeople(repositoryUrl: string, number: number): ForgeRequest[]
  /** The IDs of the people in such a response, as `askReviewers` needs them. */
  readPeople(body: unknown): string[]
  /** Asks these people for a review. Several requests where one person who cannot review must not prevent the others. */
  askReviewers(repositoryUrl: string, pull: { number: number; title: string }, people: string[]): ForgeRequest[]
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
  /** Null if we open no issues on the forge. */
  issues: IssueApi | null
}

/** How many comments one page has. With more, a response could exceed the limit for reading it. */
export const commentsPerPage = 20

export function get(url: string): ForgeRequest {
  return { method: 'GET', url, body: null }
}

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

/** One object, or the objects of a list. */
export function eachOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}

interface PullFields {
  number: unknown
  url: unknown
  branch: unknown
  /** The IDs or names of the repositories that it comes from and goes to. */
  repositories: [from: unknown, to: unknown]
  state: KnownPull['state'] | undefined
}

/** A pull request, unless a part of it is malformed. */
export function pullOf({ number, url, branch, repositories: [from, to], state }: PullFields): KnownPull[] {
  const isPull = Number.isSafeInteger(number) && (number as number) > 0
  if (!isPull || typeof url !== 'string' || !isWebUrl(url) || state === undefined) return []
  const isOwn = typeof branch === 'string' && to !== undefined && from === to
  return [{ number: number as number, url, branch: isOwn ? branch : null, state }]
}

/** An issue, unless a part of it is malformed. */
export function issueOf(number: unknown, text: unknown, isOpen: boolean): KnownIssue[] {
  const isIssue = Number.isSafeInteger(number) && (number as number) > 0
  return isIssue ? [{ number: number as number, text: textOrNull(text) ?? '', isOpen }] : []
}

/** Different texts, in order. */
export function distinctTexts(values: unknown[]): string[] {
  return [
    ...new Set(values.filter((value) => typeof value === 'string' && value !== '' && value.length <= 200)),
  ] as string[]
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
