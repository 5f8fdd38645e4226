import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ForgeName } from '../server/src/domain/repositories/repository.ts'
import { onTestEnd } from './cleanup.ts'
import { serveGit } from './git-http.ts'

export interface StoredComment {
  id: number
  pull: number
  text: string
  author: string
  createdAt: string
  updatedAt: string
}

export interface StoredStatus {
  sha: string
  context: string
  state: string
  description: string
  url: string
}

export interface StoredPull {
  number: number
  title: string
  text: string
  branch: string
  base: string
  state: 'open' | 'merged' | 'closed'
  /** Whether the branch is that of a fork. */
  isFork: boolean
  reviewers: string[]
}

export interface StoredIssue {
  number: number
  title: string
  text: string
  isOpen: boolean
}

/** A response that the forge gives instead of handling the request. */
export interface PlannedResponse {
  status: number
  body?: object | string
  headers?: Record<string, string>
  /** Handles the request before it closes the connection without a response, as a crash in between does. */
  afterwards?: boolean
}

interface Reply {
  status: number
  body: unknown
}

interface ApiCall {
  method: string
  /** The path below the repository, such as `/issues/7/comments`. */
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
}

/** The REST API of a forge for one repository, over plain http on 127.0.0.1. Rejects what the forge would reject. */
export class ForgeApiServer {
  readonly forge: ForgeName
  port = 0
  token = 'forge-token-1'
  /** What the token may do. */
  canComment = true
  canSetStatus = true
  canOpenPulls = true
  canOpenIssues = true
  canPush = true
  isPrivate = true
  /** Who opened, and who reviewed, the pull requests that were there before. */
  author = 'bob'
  reviewer = 'grace'
  /** Below which path Gitea is installed. */
  installedAt = ''
  /** The folder that git clones at `cloneUrl`. */
  folder: string | null = null
  /** Where the repository is now. */
  repository: string
  readonly pulls = new Set([7])
  readonly commits = new Set<string>()
  readonly comments: StoredComment[] = []
  readonly statuses: StoredStatus[] = []
  readonly opened: StoredPull[] = []
  readonly issues: StoredIssue[] = []
  readonly requests: string[] = []
  /** Used up in order, before requests are handled. */
  readonly planned: PlannedResponse[] = []
  /** Resolves before each request is handled. */
  before: () => Promise<void> = async () => {}
  /** Resolves before the response to a request that was handled. */
  after: (request: string) => Promise<void> = async () => {}
  #server: Server | null = null
  #nextId = 1_000

  constructor(forge: ForgeName) {
    this.forge = forge
    this.repository = forge === 'gitlab' ? 'acme/assistants/prompts' : 'acme/prompts'
  }

  async start(): Promise<this> {
    this.#server = createServer((request, response) => {
      this.#respond(request, response).catch((error) => response.destroy(error))
    }).listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    onTestEnd(() => {
      this.#server?.closeAllConnections()
      this.#server?.close()
    })
    return this
  }

  /** The URL that people clone. Bitbucket Cloud has only one. */
  get cloneUrl(): string {
    if (this.forge === 'bitbucket') return `https://bitbucket.org/${this.repository}.git`
    return this.gitUrl
  }

  /** Where git finds it here. */
  get gitUrl(): string {
    return `${this.origin}${this.installedAt}/${this.repository}.git`
  }

  /** Where the API is, other than what the service may take for it. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  comment(pull: number, text: string, author = 'reviewer'): StoredComment {
    const at = new Date().toISOString()
    const comment = { id: this.#nextId++, pull, text, author, createdAt: at, updatedAt: at }
    this.comments.push(comment)
    return comment
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url as string, 'http://forge')
    const [, rest] = /\.git(\/(?:info\/refs|git-upload-pack|git-receive-pack))$/.exec(pathname) ?? []
    if (rest !== undefined && this.folder !== null) {
      const settings = { 'http.receivepack': String(this.canPush) }
      return serveGit(this.folder, rest, search, request, response, { settings })
    }
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { method = '' } = request
    this.requests.push(`${method} ${request.url}`)
    await this.before()
    const planned = this.planned.shift()
    if (planned !== undefined && !planned.afterwards) {
      const { status, body = '', headers = {} } = planned
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
      return
    }
    const reply = this.#reply(request, Buffer.concat(chunks).toString())
    if (planned?.afterwards) {
      response.destroy()
      return
    }
    await this.after(`${method} ${request.url}`)
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body))
  }

  #reply({ method = '', url = '', headers }: IncomingMessage, text: string): Reply {
    const dialect = dialects[this.forge]
    const { pathname, searchParams: query } = new URL(url, 'http://forge')
    if (headers['user-agent'] === undefined) return dialect.fail(403, 'Request forbidden by administrative rules.')
    if (headers.authorization !== `${dialect.scheme} ${this.token}`) return dialect.fail(401, dialect.unauthorised)
    const root = dialect.root(this)
    if (pathname !== root && !pathname.startsWith(`${root}/`)) return dialect.fail(404, dialect.notFound)
    const isWrite = method !== 'GET'
    if (isWrite && !String(headers['content-type']).startsWith('application/json')) {
      return dialect.fail(415, 'Unsupported Media Type')
    }
    const body = isWrite ? (JSON.parse(text) as Record<string, unknown>) : {}
    return dialect.handle(this, { method, path: pathname.slice(root.length), query, body })
  }
}

/** What a forge does with a new pull request; the problem, if it rejects it. */
function openedPull(
  server: ForgeApiServer,
  pull: Omit<StoredPull, 'number' | 'state' | 'isFork' | 'reviewers'>,
): StoredPull | string {
  const { title, text, branch, base } = pull
  if (![title, text, branch, base].every((value) => typeof value === 'string' && value !== ''))
    return 'Validation Failed'
  if (server.opened.some((each) => each.branch === branch && each.state === 'open' && !each.isFork))
    return 'A pull request already exists'
  const number = 8 + server.opened.length
  const stored = { number, title, text, branch, base, state: 'open' as const, isFork: false, reviewers: [] }
  server.opened.push(stored)
  server.pulls.add(number)
  return stored
}

interface Dialect {
  scheme: string
  unauthorised: string
  notFound: string
  root(server: ForgeApiServer): string
  fail(status: number, message: string): Reply
  handle(server: ForgeApiServer, call: ApiCall): Reply
}

const messageOnly = (status: number, message: string): Reply => ({ status, body: { message } })

const github: Dialect = {
  scheme: 'Bearer',
  unauthorised: 'Bad credentials',
  notFound: 'Not Found',
  root: ({ repository }) => `/api/v3/repos/${repository}`,
  fail: (status, message) => ({
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  }),
  handle(server, call) {
    const refused = github.fail(403, 'Resource not accessible by personal access token')
    const ofPulls = githubPulls(server, call, github, refused, 422)
    if (ofPulls !== null) return ofPulls
    const ofIssues = githubIssues(server, call, github, refused)
    return ofIssues ?? issueComments(server, call, github, refused) ?? githubStatus(server, call, github, refused)
  },
}

const gitea: Dialect = {
  scheme: 'token',
  unauthorised: 'invalid username, password or token',
  notFound: "The target couldn't be found.",
  root: ({ repository, installedAt }) => `${installedAt}/api/v1/repos/${repository}`,
  fail: messageOnly,
  handle(server, call) {
    const refused = (scope: string) =>
      gitea.fail(403, `token does not have at least one of required scope(s): [${scope}]`)
    return (
      githubPulls(server, call, gitea, refused('write:repository'), 409) ??
      githubIssues(server, call, gitea, refused('write:issue')) ??
      issueComments(server, call, gitea, refused('write:issue')) ??
      githubStatus(server, call, gitea, refused('write:repository'))
    )
  },
}

/** What a forge does with a new issue or a changed one. Issues and pull requests share their comments. */
function storedIssue(server: ForgeApiServer, number: number | null, change: Partial<StoredIssue>): StoredIssue | null {
  const known = server.issues.find((each) => each.number === number)
  if (number !== null) return known === undefined ? null : Object.assign(known, change)
  const issue = { number: 100 + server.issues.length, title: '', text: '', isOpen: true, ...change }
  server.issues.push(issue)
  server.pulls.add(issue.number)
  return issue
}

/** GitHub's issues, which Gitea has too. */
function githubIssues(
  server: ForgeApiServer,
  { method, path, query, body }: ApiCall,
  dialect: Dialect,
  refused: Reply,
): Reply | null {
  const match = /^\/issues(?:\/(\d+))?$/.exec(path)
  if (match === null) return null
  const [, digits] = match
  const shape = ({ number, title, text, isOpen }: StoredIssue) => ({
    number,
    title,
    body: text,
    state: isOpen ? 'open' : 'closed',
    ...(server.forge === 'github' ? {} : { pull_request: null }),
  })
  if (method === 'GET' && digits === undefined) {
    const size = Number(query.get('per_page') ?? query.get('limit'))
    const start = (Number(query.get('page')) - 1) * size
    const pull = { number: 7, body: 'Hello', state: 'closed', pull_request: { merged: true } }
    const all = [...server.issues.toReversed().map(shape), ...(server.forge === 'github' ? [pull] : [])]
    return { status: 200, body: query.get('state') === 'all' ? all.slice(start, start + size) : [] }
  }
  const number = digits === undefined ? null : Number(digits)
  const found = server.issues.find((issue) => issue.number === number)
  if (number !== null && found === undefined) return dialect.fail(404, dialect.notFound)
  if (method === 'GET') return { status: 200, body: shape(found as StoredIssue) }
  if (!server.canOpenIssues) return refused
  const { title = found?.title, body: text, state, ...rest } = body as Record<string, string>
  const isValid = isText(title, 255) && isText(text, maxLengths[server.forge]) && Object.keys(rest).length === 0
  if (!isValid) return dialect.fail(422, 'Validation Failed')
  const change = { title: title as string, text: text as string }
  const stored = storedIssue(server, number, { ...change, ...(state && { isOpen: state === 'open' }) })
  return { status: number === null ? 201 : 200, body: shape(stored as StoredIssue) }
}

/** GitHub's comments, which Gitea has too. */
function issueComments(server: ForgeApiServer, call: ApiCall, dialect: Dialect, refused: Reply): Reply | null {
  const { method, path, query, body } = call
  const [, onPull] = /^\/issues\/(\d+)\/comments$/.exec(path) ?? []
  const [, commentId] = /^\/issues\/comments\/(\d+)$/.exec(path) ?? []
  if (onPull !== undefined && method === 'GET') {
    if (!server.pulls.has(Number(onPull))) return dialect.fail(404, dialect.notFound)
    const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z')
    const all = server.comments.filter(
      ({ pull, updatedAt }) => pull === Number(onPull) && Date.parse(updatedAt) >= since,
    )
    return { status: 200, body: page(server, all, query, 'per_page').map(githubComment) }
  }
  const isCreate = onPull !== undefined && method === 'POST'
  const isEdit = commentId !== undefined && method === 'PATCH'
  if (!isCreate && !isEdit) return null
  const problem = commentProblem(server, body.body, Object.keys(body), 'body')
  if (problem !== null) return dialect.fail(422, problem)
  if (isCreate && !server.pulls.has(Number(onPull))) return dialect.fail(404, dialect.notFound)
  if (!server.canComment) return refused
  if (isCreate)
    return { status: 201, body: githubComment(server.comment(Number(onPull), body.body as string, 'ledger')) }
  return edited(server, Number(commentId), body.body as string, githubComment) ?? dialect.fail(404, dialect.notFound)
}

/** GitHub's pull requests, which Gitea has too, but without the filter by branch. */
function githubPulls(
  server: ForgeApiServer,
  { method, path, query, body }: ApiCall,
  dialect: Dialect,
  refused: Reply,
  duplicate: number,
): Reply | null {
  if (method === 'GET' && path === '') return { status: 200, body: { private: server.isPrivate } }
  const shape = ({ number, title, text, branch, base, state, isFork, reviewers }: StoredPull) => ({
    number,
    title,
    body: text,
    html_url: `https://forge.example/${server.repository}/pull/${number}`,
    state: state === 'open' ? 'open' : 'closed',
    merged: state === 'merged',
    user: { login: 'ledger' },
    head: { ref: branch, repo: { full_name: isFork ? 'mallory/prompts' : server.repository } },
    base: { ref: base, repo: { full_name: server.repository } },
    requested_reviewers: reviewers.map((login) => ({ login })),
  })
  if (path === '/pulls' && method === 'GET') {
    const head = query.get('head')?.split(':')[1]
    const open = server.opened.filter(
      ({ state, branch }) => state === 'open' && (head === undefined || head === branch),
    )
    return { status: 200, body: open.map(shape) }
  }
  if (path === '/pulls' && method === 'POST') {
    if (!server.canOpenPulls) return refused
    const { title, body: text, head: branch, base, ...rest } = body as Record<string, string>
    if (Object.keys(rest).length > 0) return dialect.fail(422, 'Validation Failed')
    const opened = openedPull(server, { title, text, branch, base } as StoredPull)
    return typeof opened === 'string' ? dialect.fail(duplicate, opened) : { status: 201, body: shape(opened) }
  }
  const [, number, rest = ''] = /^\/pulls\/(\d+)(\/\w+)?$/.exec(path) ?? []
  if (number === undefined) return null
  const pull = server.opened.find((each) => each.number === Number(number))
  if (method === 'GET' && rest === '/reviews') return { status: 200, body: [{ user: { login: server.reviewer } }] }
  if (method === 'GET' && rest === '') {
    if (pull !== undefined) return { status: 200, body: shape(pull) }
    return { status: 200, body: { number: Number(number), user: { login: server.author }, requested_reviewers: [] } }
  }
  if (method !== 'POST' || rest !== '/requested_reviewers' || pull === undefined)
    return dialect.fail(404, dialect.notFound)
  const { reviewers } = body as { reviewers: string[] }
  if (reviewers.includes('ledger')) return dialect.fail(422, 'Review cannot be requested from pull request author.')
  pull.reviewers.push(...reviewers)
  return { status: 201, body: shape(pull) }
}

function githubStatus(
  server: ForgeApiServer,
  { method, path, body }: ApiCall,
  dialect: Dialect,
  refused: Reply,
): Reply {
  const [, sha = ''] = /^\/statuses\/([0-9a-f]{40})$/.exec(path) ?? []
  if (method !== 'POST' || sha === '') return dialect.fail(404, dialect.notFound)
  const { state, target_url: url, description, context, ...rest } = body
  const isValid =
    ['error', 'failure', 'pending', 'success'].includes(String(state)) &&
    isHttpUrl(url) &&
    isText(description, 140) &&
    isText(context, 255) &&
    Object.keys(rest).length === 0
  if (!isValid) return dialect.fail(422, 'Validation Failed')
  if (!server.canSetStatus) return refused
  if (!server.commits.has(sha)) return dialect.fail(422, `No commit found for SHA: ${sha}`)
  server.statuses.push({ sha, context, state, description, url } as StoredStatus)
  return { status: 201, body: { id: server.statuses.length, state, context, description, target_url: url } }
}

const gitlab: Dialect = {
  scheme: 'Bearer',
  unauthorised: '401 Unauthorized',
  notFound: '404 Project Not Found',
  root: ({ repository }) => `/api/v4/projects/${encodeURIComponent(repository)}`,
  fail: messageOnly,
  handle(server, { method, path, query, body }) {
    const refused = {
      status: 403,
      body: {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api',
      },
    }
    if (method === 'GET' && path === '')
      return { status: 200, body: { visibility: server.isPrivate ? 'private' : 'public' } }
    const ofPulls = gitlabPulls(server, { method, path, query, body }, refused)
    if (ofPulls !== null) return ofPulls
    const ofIssues = gitlabIssues(server, { method, path, query, body }, refused)
    if (ofIssues !== null) return ofIssues
    const [, pull = '', note] = /^\/(?:merge_requests|issues)\/(\d+)\/notes(?:\/(\d+))?$/.exec(path) ?? []
    if (pull !== '') {
      if (!server.pulls.has(Number(pull))) return gitlab.fail(404, '404 Not found')
      if (method === 'GET') {
        const own = server.comments.filter((comment) => comment.pull === Number(pull)).toReversed()
        return { status: 200, body: page(server, own, query, 'per_page').map(gitlabNote) }
      }
      const problem = commentProblem(server, body.body, Object.keys(body), 'body')
      if (problem !== null) return gitlab.fail(400, problem)
      if (!server.canComment) return refused
      // Lines like /close are carried out.
      const text = (body.body as string).replaceAll(/^\/\w+.*$/gm, '')
      if (text.trim() === '') return { status: 202, body: { commands_changes: {}, summary: ['Done'] } }
      if (method === 'POST' && note === undefined) {
        return { status: 201, body: gitlabNote(server.comment(Number(pull), text, 'ledger')) }
      }
      if (method === 'PUT') return edited(server, Number(note), text, gitlabNote) ?? gitlab.fail(404, '404 Not found')
    }
    const [, sha = ''] = /^\/statuses\/([0-9a-f]{40})$/.exec(path) ?? []
    if (method !== 'POST' || sha === '') return { status: 404, body: { error: '404 Not Found' } }
    const { state, name, target_url: url, description, ...rest } = body
    const isValid =
      ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'].includes(String(state)) &&
      isHttpUrl(url) &&
      isText(description, 255) &&
      isText(name, 255) &&
      Object.keys(rest).length === 0
    if (!isValid) return { status: 400, body: { error: 'state does not have a valid value' } }
    if (!server.canSetStatus) return refused
    if (!server.commits.has(sha)) return gitlab.fail(404, '404 Commit Not Found')
    const last = server.statuses.findLast((status) => status.sha === sha && status.context === name)
    if (last?.state === state) {
      const how = state === 'failed' ? 'drop' : 'success'
      const why = `Cannot transition status via :${how} from :${state} (Reason(s): Status cannot transition via "${how}")`
      return gitlab.fail(400, why)
    }
    server.statuses.push({ sha, context: name, state, description, url } as StoredStatus)
    return { status: 201, body: { id: server.statuses.length, sha, status: state, name, target_url: url, description } }
  },
}

function gitlabIssues(server: ForgeApiServer, { method, path, query, body }: ApiCall, refused: Reply): Reply | null {
  const match = /^\/issues(?:\/(\d+))?$/.exec(path)
  if (match === null) return null
  const [, digits] = match
  const shape = ({ number, title, text, isOpen }: StoredIssue) => ({
    id: 5_000 + number,
    iid: number,
    title,
    description: text,
    state: isOpen ? 'opened' : 'closed',
  })
  if (method === 'GET' && digits === undefined) {
    const size = Number(query.get('per_page'))
    const start = (Number(query.get('page')) - 1) * size
    return {
      status: 200,
      body: server.issues
        .toReversed()
        .slice(start, start + size)
        .map(shape),
    }
  }
  const number = digits === undefined ? null : Number(digits)
  const found = server.issues.find((issue) => issue.number === number)
  if (number !== null && found === undefined) return gitlab.fail(404, '404 Not found')
  if (method === 'GET') return { status: 200, body: shape(found as StoredIssue) }
  if (!server.canOpenIssues) return refused
  const { title = found?.title, description, state_event: event, ...rest } = body as Record<string, string>
  const isValid = isText(title, 255) && isText(description, 1_000_000) && Object.keys(rest).length === 0
  if (!isValid || !['close', 'reopen', undefined].includes(event)) return gitlab.fail(400, 'title is missing')
  // Lines like /close are carried out.
  const text = (description as string).replaceAll(/^\/\w+.*$/gm, '')
  const change = { title: title as string, text, ...(event && { isOpen: event === 'reopen' }) }
  return { status: number === null ? 201 : 200, body: shape(storedIssue(server, number, change) as StoredIssue) }
}

function gitlabPulls(server: ForgeApiServer, { method, path, query, body }: ApiCall, refused: Reply): Reply | null {
  const shape = ({ number, title, branch, state, isFork, reviewers }: StoredPull) => ({
    iid: number,
    title,
    web_url: `https://forge.example/${server.repository}/-/merge_requests/${number}`,
    state: state === 'open' ? 'opened' : state,
    source_branch: branch,
    source_project_id: isFork ? 2 : 1,
    target_project_id: 1,
    author: { id: 100, username: 'ledger' },
    reviewers: reviewers.map((id) => ({ id: Number(id) })),
  })
  if (path === '/merge_requests' && method === 'GET') {
    const own = server.opened.filter(({ branch, state }) => branch === query.get('source_branch') && state === 'open')
    return { status: 200, body: own.map(shape) }
  }
  if (path === '/merge_requests' && method === 'POST') {
    if (!server.canOpenPulls) return refused
    const { title, description: text, source_branch: branch, target_branch: base } = body as Record<string, string>
    const opened = openedPull(server, { title, text, branch, base } as StoredPull)
    return typeof opened === 'string' ? gitlab.fail(409, opened) : { status: 201, body: shape(opened) }
  }
  const [, number] = /^\/merge_requests\/(\d+)$/.exec(path) ?? []
  if (number === undefined) return null
  const pull = server.opened.find((each) => each.number === Number(number))
  if (method === 'GET') {
    const old = { iid: Number(number), author: { id: 11 }, reviewers: [{ id: 12 }] }
    return { status: 200, body: pull === undefined ? old : shape(pull) }
  }
  if (pull === undefined) return gitlab.fail(404, '404 Not found')
  pull.reviewers = (body.reviewer_ids as number[]).map(String)
  return { status: 200, body: shape(pull) }
}

const bitbucket: Dialect = {
  scheme: 'Bearer',
  unauthorised: 'Token is invalid, expired, or not supported for this endpoint.',
  notFound: 'Repository acme/prompts not found',
  root: ({ repository }) => `/2.0/repositories/${repository}`,
  fail: (status, message) => ({ status, body: { type: 'error', error: { message } } }),
  handle(server, { method, path, query, body }) {
    const refused = bitbucket.fail(403, 'Your credentials lack one or more required privilege scopes.')
    if (method === 'GET' && path === '') return { status: 200, body: { is_private: server.isPrivate } }
    const ofPulls = bitbucketPulls(server, { method, path, query, body }, refused)
    if (ofPulls !== null) return ofPulls
    const [, pull = '', commentId] = /^\/pullrequests\/(\d+)\/comments(?:\/(\d+))?$/.exec(path) ?? []
    if (pull !== '') {
      if (!server.pulls.has(Number(pull))) return bitbucket.fail(404, 'Pull request not found')
      if (method === 'GET') {
        const own = server.comments.filter((comment) => comment.pull === Number(pull))
        const sorted = query.get('sort') === '-created_on' ? own.toReversed() : own
        const values = page(server, sorted, query, 'pagelen').map(bitbucketComment)
        return { status: 200, body: { pagelen: 20, size: own.length, page: Number(query.get('page')), values } }
      }
      const content = body.content as { raw?: unknown } | undefined
      const fields = [...Object.keys(body), ...Object.keys(content ?? {})]
      const problem = commentProblem(server, content?.raw, fields, 'content raw')
      if (problem !== null) return bitbucket.fail(400, problem)
      if (!server.canComment) return refused
      const text = content?.raw as string
      if (method === 'POST')
        return { status: 201, body: bitbucketComment(server.comment(Number(pull), text, 'ledger')) }
      return edited(server, Number(commentId), text, bitbucketComment) ?? bitbucket.fail(404, 'Comment not found')
    }
    const [, sha = ''] = /^\/commit\/([0-9a-f]{40})\/statuses\/build$/.exec(path) ?? []
    if (method !== 'POST' || sha === '') return bitbucket.fail(404, 'Resource not found')
    const { key, state, name, url, description, ...rest } = body
    const isValid =
      isText(key, 40) &&
      ['SUCCESSFUL', 'FAILED', 'INPROGRESS', 'STOPPED'].includes(String(state)) &&
      isText(name, 255) &&
      isHttpUrl(url) &&
      isText(description, 255) &&
      Object.keys(rest).length === 0
    if (!isValid) return bitbucket.fail(400, 'Bad request')
    if (!server.canSetStatus) return refused
    if (!server.commits.has(sha)) return bitbucket.fail(404, 'Commit not found')
    server.statuses.push({ sha, context: key, state, description, url } as StoredStatus)
    return { status: 201, body: { type: 'build', key, state, name, url, description } }
  },
}

function bitbucketPulls(server: ForgeApiServer, { method, path, query, body }: ApiCall, refused: Reply): Reply | null {
  const shape = ({ number, title, branch, base, state, isFork, reviewers }: StoredPull) => ({
    id: number,
    title,
    links: { html: { href: `https://bitbucket.org/${server.repository}/pull-requests/${number}` } },
    state: { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' }[state],
    source: { branch: { name: branch }, repository: { full_name: isFork ? 'mallory/prompts' : server.repository } },
    destination: { branch: { name: base }, repository: { full_name: server.repository } },
    author: { uuid: '{ledger}' },
    reviewers: reviewers.map((uuid) => ({ uuid })),
  })
  if (path === '/pullrequests' && method === 'GET') {
    const [, branch] = /^source\.branch\.name = "([^"]+)" AND state = "OPEN"$/.exec(query.get('q') ?? '') ?? []
    const values = server.opened.filter((pull) => pull.branch === branch && pull.state === 'open').map(shape)
    return { status: 200, body: { values } }
  }
  if (path === '/pullrequests' && method === 'POST') {
    if (!server.canOpenPulls) return refused
    const {
      title,
      description: text,
      source,
      destination,
    } = body as {
      title: string
      description: string
      source: { branch: { name: string } }
      destination: { branch: { name: string } }
    }
    const opened = openedPull(server, { title, text, branch: source.branch.name, base: destination.branch.name })
    return typeof opened === 'string' ? bitbucket.fail(400, opened) : { status: 201, body: shape(opened) }
  }
  const [, number] = /^\/pullrequests\/(\d+)$/.exec(path) ?? []
  if (number === undefined) return null
  const pull = server.opened.find((each) => each.number === Number(number))
  if (method === 'GET') {
    const old = { id: Number(number), author: { uuid: '{bob}' }, reviewers: [{ uuid: '{grace}' }] }
    return { status: 200, body: pull === undefined ? old : shape(pull) }
  }
  if (pull === undefined) return bitbucket.fail(404, 'Pull request not found')
  pull.reviewers = (body.reviewers as { uuid: string }[]).map(({ uuid }) => uuid)
  return { status: 200, body: shape(pull) }
}

const dialects: Record<ForgeName, Dialect> = { github, gitlab, gitea, forgejo: gitea, bitbucket }

const maxLengths: Record<ForgeName, number> = {
  github: 65_536,
  gitlab: 1_000_000,
  gitea: 65_536,
  forgejo: 65_536,
  bitbucket: 32_768,
}

function commentProblem({ forge }: ForgeApiServer, text: unknown, fields: string[], expected: string): string | null {
  if (!isText(text, maxLengths[forge])) return 'Validation Failed: body is missing or too long'
  return fields.join(' ') === expected ? null : `Validation Failed: unknown fields in ${fields.join(', ')}`
}

function edited(
  server: ForgeApiServer,
  id: number,
  text: string,
  shape: (comment: StoredComment) => object,
): Reply | null {
  const comment = server.comments.find((each) => each.id === id)
  if (comment === undefined) return null
  Object.assign(comment, { text, updatedAt: new Date().toISOString() })
  return { status: 200, body: shape(comment) }
}

/** Gitea lists all comments of an issue at once. */
function page(
  server: ForgeApiServer,
  comments: StoredComment[],
  query: URLSearchParams,
  size: string,
): StoredComment[] {
  if (server.forge === 'gitea' || server.forge === 'forgejo') return comments
  const perPage = Math.min(Number(query.get(size) ?? 30), 100)
  const start = (Number(query.get('page') ?? 1) - 1) * perPage
  return comments.slice(start, start + perPage)
}

function githubComment({ id, text, author, createdAt, updatedAt }: StoredComment) {
  return {
    id,
    body: text,
    user: { login: author, id: 1 },
    html_url: `https://forge.example/acme/prompts/pull/7#issuecomment-${id}`,
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

function gitlabNote({ id, text, author, createdAt, updatedAt }: StoredComment) {
  return {
    id,
    body: text,
    author: { id: 1, username: author },
    system: false,
    noteable_type: 'MergeRequest',
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

function bitbucketComment({ id, text, author, createdAt, updatedAt }: StoredComment) {
  return {
    type: 'pullrequest_comment',
    id,
    content: { type: 'rendered', raw: text, markup: 'markdown' },
    user: { type: 'user', nickname: author },
    deleted: false,
    created_on: createdAt,
    updated_on: updatedAt,
  }
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxLength
}

function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/.test(URL.parse(value)?.protocol ?? '')
}
