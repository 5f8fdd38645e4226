import { isoTime } from '../domain/time.ts'
import {
  commentOf,
  commentsPerPage,
  distinctTexts,
  eachOf,
  type ForgeApi,
  get,
  type IssueApi,
  idOf,
  issueOf,
  listOf,
  member,
  ownerAndName,
  pullOf,
  repositoryAddress,
  textOrNull,
} from './forge-api.ts'

const createComment: ForgeApi['createComment'] = (repositoryUrl, number, text) => ({
  method: 'POST',
  url: `${repositoryUrl}/issues/${number}/comments`,
  body: { body: text },
})

// The oldest comes first, so those from before the merge are left out.
const listComments: ForgeApi['listComments'] = (repositoryUrl, number, page, since) => {
  const query = `per_page=${commentsPerPage}&page=${page}&since=${encodeURIComponent(isoTime(since))}`
  return get(`${repositoryUrl}/issues/${number}/comments?${query}`)
}

export const githubIssues: IssueApi = {
  list: (repositoryUrl, page) =>
    get(`${repositoryUrl}/issues?state=all&sort=created&direction=desc&per_page=${commentsPerPage}&page=${page}`),
  get: (repositoryUrl, number) => get(`${repositoryUrl}/issues/${number}`),
  create: (repositoryUrl, { title, text }) => ({
    method: 'POST',
    url: `${repositoryUrl}/issues`,
    body: { title, body: text },
  }),
  edit: (repositoryUrl, number, { text, isOpen }) => ({
    method: 'PATCH',
    url: `${repositoryUrl}/issues/${number}`,
    body: { body: text, ...(isOpen === undefined ? {} : { state: isOpen ? 'open' : 'closed' }) },
  }),
  // Lists contain pull requests.
  read: (body) =>
    eachOf(body)
      .filter((each) => member(each, 'pull_request') == null)
      .flatMap((each) => issueOf(member(each, 'number'), member(each, 'body'), member(each, 'state') === 'open')),
  createComment,
  listComments,
}

/** GitHub, and GitHub Enterprise. A pull request is an issue there, so its comments are those of the issue. */
export const githubApi: ForgeApi = {
  repositoryUrl(url) {
    const address = repositoryAddress(url)
    const repository = ownerAndName(address?.path ?? [])
    return address === null || repository === null ? null : `${rootOf(address)}/repos/${repository}`
  },

  headers(token) {
    return {
      Accept: 'application/vnd.github+json',
      Authorization: `Bearer ${token}`,
      'X-GitHub-Api-Version': '2022-11-28',
    }
  },

  createComment,
  listComments,
  issues: githubIssues,

  editComment(repositoryUrl, _pull, commentId, text) {
    return { method: 'PATCH', url: `${repositoryUrl}/issues/comments/${commentId}`, body: { body: text } }
  },

  setStatus(repositoryUrl, sha, { context, isFailure, description, url }) {
    return {
      method: 'POST',
      url: `${repositoryUrl}/statuses/${sha}`,
      body: { state: isFailure ? 'failure' : 'success', target_url: url, description, context },
    }
  },

  readAccess(repositoryUrl, user) {
    return { method: 'GET', url: `${repositoryUrl}/collaborators/${encodeURIComponent(user)}/permission`, body: null }
  },

  // GitHub shows the role maintain as write. Gitea and Forgejo have owners.
  canWrite: (body) => ['write', 'admin', 'owner'].includes(String(member(body, 'permission'))),

  getRepository: get,
  readVisibility: (body) => (member(body, 'private') === true ? 'private' : 'public'),

  listPulls(repositoryUrl, branch) {
    const [, owner = ''] = /\/repos\/([^/]+)\/[^/]+$/.exec(repositoryUrl) ?? []
    return get(`${repositoryUrl}/pulls?state=open&head=${owner}:${encodeURIComponent(branch)}`)
  },

  getPull: (repositoryUrl, number) => get(`${repositoryUrl}/pulls/${number}`),

  createPull(repositoryUrl, { title, text, branch, base }) {
    return { method: 'POST', url: `${repositoryUrl}/pulls`, body: { title, body: text, head: branch, base } }
  },

  readPulls(body) {
    return eachOf(body).flatMap((pull) => {
      const isMerged = member(pull, 'merged') === true || typeof member(pull, 'merged_at') === 'string'
      const state = member(pull, 'state') === 'open' ? 'open' : isMerged ? 'merged' : 'closed'
      const [head, base] = [member(pull, 'head'), member(pull, 'base')]
      const repositories = [head, base].map((side) => member(member(side, 'repo'), 'full_name')) as [unknown, unknown]
      const url = member(pull, 'html_url')
      return pullOf({ number: member(pull, 'number'), url, branch: member(head, 'ref'), repositories, state })
    })
  },

  listPeople: (repositoryUrl, number) => [
    get(`${repositoryUrl}/pulls/${number}`),
    get(`${repositoryUrl}/pulls/${number}/reviews`),
  ],

  // A pull request has its author and whom it waits for, a review has who wrote it.
  readPeople(body) {
    const people = eachOf(body).flatMap((each) => [
      member(each, 'user'),
      ...listOf(member(each, 'requested_reviewers')),
    ])
    return distinctTexts(people.map((person) => member(person, 'login')))
  },

  askReviewers: (repositoryUrl, { number }, people) =>
    people.map((login) => ({
      method: 'POST',
      url: `${repositoryUrl}/pulls/${number}/requested_reviewers`,
      body: { reviewers: [login] },
    })),

  readCommentId: idOf,
  readComments: (body) => listOf(body).flatMap(commentOf),
  readError: (body) => textOrNull(member(body, 'message')),
  hasStatusAlready: () => false,
  maxCommentLength: 65_536,
}

function rootOf({ server, host }: { server: string; host: string }): string {
  if (/^(www\.)?github\.com$/.test(host)) return 'https://api.github.com'
  // GitHub Enterprise Cloud with data residency.
  if (host.endsWith('.ghe.com')) return `https://api.${host}`
  return `${server}/api/v3`
}
