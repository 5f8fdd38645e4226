import {
  commentOf,
  commentsPerPage,
  type ForgeApi,
  idOf,
  listOf,
  member,
  repositoryAddress,
  textOrNull,
} from './forge-api.ts'

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
