import {
  commentOf,
  commentsPerPage,
  distinctTexts,
  eachOf,
  type ForgeApi,
  get,
  idOf,
  issueOf,
  type KnownPull,
  listOf,
  member,
  pullOf,
  repositoryAddress,
  textOrNull,
} from './forge-api.ts'

const developer = 30

/** GitLab, whose projects can be in subgroups, so that the whole path is one encoded segment. */
export const gitlabApi: ForgeApi = {
  repositoryUrl(url) {
    const address = repositoryAddress(url)
    return address && `${address.server}/api/v4/projects/${encodeURIComponent(address.path.join('/'))}`
  },

  // Also accepted for personal, project and group access tokens, unlike PRIVATE-TOKEN for those of OAuth.
  headers(token) {
    return { Accept: 'application/json', Authorization: `Bearer ${token}` }
  },

  createComment(repositoryUrl, pull, text) {
    return { method: 'POST', url: `${repositoryUrl}/merge_requests/${pull}/notes`, body: { body: text } }
  },

  editComment(repositoryUrl, pull, commentId, text) {
    return { method: 'PUT', url: `${repositoryUrl}/merge_requests/${pull}/notes/${commentId}`, body: { body: text } }
  },

  listComments(repositoryUrl, pull, page) {
    const query = `sort=desc&order_by=created_at&per_page=${commentsPerPage}&page=${page}`
    return { method: 'GET', url: `${repositoryUrl}/merge_requests/${pull}/notes?${query}`, body: null }
  },

  setStatus(repositoryUrl, sha, { context, isFailure, description, url }) {
    return {
      method: 'POST',
      url: `${repositoryUrl}/statuses/${sha}`,
      body: { state: isFailure ? 'failed' : 'success', name: context, target_url: url, description },
    }
  },

  readAccess(repositoryUrl, user) {
    const query = `query=${encodeURIComponent(user)}&per_page=100`
    return { method: 'GET', url: `${repositoryUrl}/members/all?${query}`, body: null }
  },

  // The search also finds similar names. Developers and higher roles may push.
  canWrite: (body, user) =>
    listOf(body).some(
      (each) =>
        member(each, 'username') === user &&
        member(each, 'state') === 'active' &&
        Number(member(each, 'access_level')) >= developer,
    ),

  getRepository: get,
  readVisibility: (body) => (member(body, 'visibility') === 'private' ? 'private' : 'public'),

  listPulls: (repositoryUrl, branch) =>
    get(`${repositoryUrl}/merge_requests?state=opened&source_branch=${encodeURIComponent(branch)}`),

  getPull: (repositoryUrl, number) => get(`${repositoryUrl}/merge_requests/${number}`),

  createPull(repositoryUrl, { title, text, branch, base }) {
    const branches = { source_branch: branch, target_branch: base, remove_source_branch: true }
    return { method: 'POST', url: `${repositoryUrl}/merge_requests`, body: { title, description: text, ...branches } }
  },

  readPulls(body) {
    return eachOf(body).flatMap((pull) => {
      const state = gitlabStates[String(member(pull, 'state'))]
      const repositories: [unknown, unknown] = [member(pull, 'source_project_id'), member(pull, 'target_project_id')]
      const [number, url, branch] = [member(pull, 'iid'), member(pull, 'web_url'), member(pull, 'source_branch')]
      return pullOf({ number, url, branch, repositories, state })
    })
  },

  listPeople: (repositoryUrl, number) => [get(`${repositoryUrl}/merge_requests/${number}`)],

  readPeople(body) {
    const people = [member(body, 'author'), ...listOf(member(body, 'reviewers'))]
    return distinctTexts(people.map(idOf))
  },

  askReviewers: (repositoryUrl, { number }, people) => [
    {
      method: 'PUT',
      url: `${repositoryUrl}/merge_requests/${number}`,
      body: { reviewer_ids: people.map(Number) },
    },
  ],

  issues: {
    list: (repositoryUrl, page) =>
      get(`${repositoryUrl}/issues?order_by=created_at&sort=desc&per_page=${commentsPerPage}&page=${page}`),
    get: (repositoryUrl, number) => get(`${repositoryUrl}/issues/${number}`),
    create: (repositoryUrl, { title, text }) => ({
      method: 'POST',
      url: `${repositoryUrl}/issues`,
      body: { title, description: text },
    }),
    edit: (repositoryUrl, number, { text, isOpen }) => ({
      method: 'PUT',
      url: `${repositoryUrl}/issues/${number}`,
      body: { description: text, ...(isOpen === undefined ? {} : { state_event: isOpen ? 'reopen' : 'close' }) },
    }),
    read: (body) =>
      eachOf(body).flatMap((each) =>
        issueOf(member(each, 'iid'), member(each, 'description'), member(each, 'state') === 'opened'),
      ),
    createComment: (repositoryUrl, number, text) => ({
      method: 'POST',
      url: `${repositoryUrl}/issues/${number}/notes`,
      body: { body: text },
    }),
    listComments: (repositoryUrl, number, page) =>
      get(
        `${repositoryUrl}/issues/${number}/notes?sort=desc&order_by=created_at&per_page=${commentsPerPage}&page=${page}`,
      ),
  },

  readCommentId: idOf,
  readComments: (body) => listOf(body).flatMap(commentOf),

  // `message` can be a list of problems for each field.
  readError(body) {
    const message = member(body, 'message') ?? member(body, 'error_description') ?? member(body, 'error')
    return textOrNull(typeof message === 'object' && message !== null ? JSON.stringify(message) : message)
  },

  hasStatusAlready: (error) => error.startsWith('Cannot transition status'),
  maxCommentLength: 1_000_000,
}

const gitlabStates: Record<string, KnownPull['state']> = {
  opened: 'open',
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
}
