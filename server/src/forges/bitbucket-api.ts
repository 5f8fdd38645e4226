import {
  commentsPerPage,
  type ForgeApi,
  idOf,
  type ListedComment,
  listOf,
  member,
  ownerAndName,
  repositoryAddress,
  textOrNull,
} from './forge-api.ts'

/** Bitbucket Cloud. Bitbucket Data Center has another API. */
export const bitbucketApi: ForgeApi = {
  repositoryUrl(url) {
    const { host, path } = repositoryAddress(url) ?? { host: '', path: [] }
    const repository = ownerAndName(path)
    if (host !== 'bitbucket.org' || repository === null) return null
    return `https://api.bitbucket.org/2.0/repositories/${repository}`
  },

  headers(token) {
    return { Accept: 'application/json', Authorization: `Bearer ${token}` }
  },

  createComment(repositoryUrl, pull, text) {
    return { method: 'POST', url: `${repositoryUrl}/pullrequests/${pull}/comments`, body: { content: { raw: text } } }
  },

  editComment(repositoryUrl, pull, commentId, text) {
    return {
      method: 'PUT',
      url: `${repositoryUrl}/pullrequests/${pull}/comments/${commentId}`,
      body: { content: { raw: text } },
    }
  },

  listComments(repositoryUrl, pull, page) {
    const query = `sort=-created_on&pagelen=${commentsPerPage}&page=${page}`
    return { method: 'GET', url: `${repositoryUrl}/pullrequests/${pull}/comments?${query}`, body: null }
  },

  setStatus(repositoryUrl, sha, { context, key, isFailure, description, url }) {
    return {
      method: 'POST',
      url: `${repositoryUrl}/commit/${sha}/statuses/build`,
      body: { key, state: isFailure ? 'FAILED' : 'SUCCESSFUL', name: context, url, description },
    }
  },

  readCommentId: idOf,
  readComments: (body) => listOf(member(body, 'values')).flatMap(bitbucketComment),
  readError: (body) => textOrNull(member(member(body, 'error'), 'message')),
  hasStatusAlready: () => false,
  maxCommentLength: 32_768,
}

/** A deleted comment stays in the list. */
function bitbucketComment(value: unknown): ListedComment[] {
  const [id, text] = [idOf(value), member(member(value, 'content'), 'raw')]
  return id === null || typeof text !== 'string' || member(value, 'deleted') === true ? [] : [{ id, text }]
}
