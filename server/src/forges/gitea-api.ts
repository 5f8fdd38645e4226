import { isoTime } from '../domain/time.ts'
import { commentOf, type ForgeApi, idOf, listOf, member, repositoryAddress, textOrNull } from './forge-api.ts'

/** Gitea and Forgejo. Like GitHub, but they can be installed below a path, and list all comments at once. */
export const giteaApi: ForgeApi = {
  repositoryUrl(url) {
    const address = repositoryAddress(url)
    if (address === null) return null
    const path = address.path.map(encodeURIComponent)
    const installedAt = path.slice(0, -2).map((part) => `/${part}`)
    return `${address.server}${installedAt.join('')}/api/v1/repos/${path.slice(-2).join('/')}`
  },

  headers(token) {
    return { Accept: 'application/json', Authorization: `token ${token}` }
  },

  createComment(repositoryUrl, pull, text) {
    return { method: 'POST', url: `${repositoryUrl}/issues/${pull}/comments`, body: { body: text } }
  },

  editComment(repositoryUrl, _pull, commentId, text) {
    return { method: 'PATCH', url: `${repositoryUrl}/issues/comments/${commentId}`, body: { body: text } }
  },

  listComments(repositoryUrl, pull, page, since) {
    if (page > 1) return null
    const query = `since=${encodeURIComponent(isoTime(since))}`
    return { method: 'GET', url: `${repositoryUrl}/issues/${pull}/comments?${query}`, body: null }
  },

  setStatus(repositoryUrl, sha, { context, isFailure, description, url }) {
    return {
      method: 'POST',
      url: `${repositoryUrl}/statuses/${sha}`,
      body: { state: isFailure ? 'failure' : 'success', target_url: url, description, context },
    }
  },

  readCommentId: idOf,
  readComments: (body) => listOf(body).flatMap(commentOf),
  readError: (body) => textOrNull(member(body, 'message')),
  hasStatusAlready: () => false,
  maxCommentLength: 65_536,
}
