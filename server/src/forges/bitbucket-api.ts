import {
  commentsPerPage,
  distinctTexts,
  eachOf,
  type ForgeApi,
  get,
  idOf,
  type KnownPull,
  type ListedComment,
  listOf,
  member,
  ownerAndName,
  pullOf,
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

  // Its issue tracker is off for most repositories, and is not tested.
  issues: null,

  readAccess: () => null,
  canWrite: () => false,

  getRepository: get,
  readVisibility: (body) => (member(body, 'is_private') === true ? 'private' : 'public'),

  listPulls(repositoryUrl, branch) {
    const query = `source.branch.name = "${branch}" AND state = "OPEN"`
    return get(`${repositoryUrl}/pullrequests?q=${encodeURIComponent(query)}`)
  },

  getPull: (repositoryUrl, number) => get(`${repositoryUrl}/pullrequests/${number}`),

  createPull(repositoryUrl, { title, text, branch, base }) {
    const source = { branch: { name: branch } }
    const destination = { branch: { name: base } }
    const body = { title, description: text, source, destination, close_source_branch: true }
    return { method: 'POST', url: `${repositoryUrl}/pullrequests`, body }
  },

  readPulls(body) {
    return eachOf(member(body, 'values') ?? body).flatMap((pull) => {
      const url = member(member(member(pull, 'links'), 'html'), 'href')
      const [source, target] = [member(pull, 'source'), member(pull, 'destination')]
      const branch = member(member(source, 'branch'), 'name')
      const repositories = [source, target].map((side) => member(member(side, 'repository'), 'full_name'))
      return pullOf({
        number: member(pull, 'id'),
        url,
        branch,
        repositories: repositories as [unknown, unknown],
        state: bitbucketStates[String(member(pull, 'state'))],
      })
    })
  },

  listPeople: (repositoryUrl, number) => [get(`${repositoryUrl}/pullrequests/${number}`)],

  readPeople(body) {
    const people = [member(body, 'author'), ...listOf(member(body, 'reviewers'))]
    return distinctTexts(people.map((person) => member(person, 'uuid')))
  },

  askReviewers: (repositoryUrl, { number, title }, people) => [
    {
      method: 'PUT',
      url: `${repositoryUrl}/pullrequests/${number}`,
      body: { title, reviewers: people.map((uuid) => ({ uuid })) },
    },
  ],

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

const bitbucketStates: Record<string, KnownPull['state']> = {
  OPEN: 'open',
  MERGED: 'merged',
  DECLINED: 'closed',
  SUPERSEDED: 'closed',
}
