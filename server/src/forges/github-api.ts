import { isoTime } from '../domain/time.ts'
import {
  commentOf,
  commentsPerPage,
  type ForgeApi,
  idOf,
  listOf,
  member,
  ownerAndName,
  repositoryAddress,
  textOrNull,
} from './forge-api.ts'

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

  createComment(repositoryUrl, pull, text) {
    return { method: 'POST', url: `${repositoryUrl}/issues/${pull}/comments`, body: { body: text } }
  },

  editComment(repositoryUrl, _pull, commentId, text) {
    return { method: 'PATCH', url: `${repositoryUrl}/issues/comments/${commentId}`, body: { body: text } }
  },

  // The oldest comes first, so those from before the merge are left out.
  listComments(repositoryUrl, pull, page, since) {
    const query = `per_page=${commentsPerPage}&page=${page}&since=${encodeURIComponent(isoTime(since))}`
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

function rootOf({ server, host }: { server: string; host: string }): string {
  if (/^(www\.)?github\.com$/.test(host)) return 'https://api.github.com'
  // GitHub Enterprise Cloud with data residency.
  if (host.endsWith('.ghe.com')) return `https://api.${host}`
  return `${server}/api/v3`
}
