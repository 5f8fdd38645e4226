import { isoTime } from '../domain/time.ts'
import { commentsPerPage, type ForgeApi, get, repositoryAddress } from './forge-api.ts'
import { githubApi, githubIssues } from './github-api.ts'

const listComments: ForgeApi['listComments'] = (repositoryUrl, number, page, since) =>
  page > 1 ? null : get(`${repositoryUrl}/issues/${number}/comments?since=${encodeURIComponent(isoTime(since))}`)

/** Gitea and Forgejo. Like GitHub, but they can be installed below a path, and list all comments at once. */
export const giteaApi: ForgeApi = {
  ...githubApi,

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

  // Older versions cannot filter by branch.
  listPulls: (repositoryUrl) => get(`${repositoryUrl}/pulls?state=open&sort=recentupdate&limit=50`),

  listComments,

  issues: {
    ...githubIssues,
    list: (repositoryUrl, page) =>
      get(`${repositoryUrl}/issues?state=all&type=issues&limit=${commentsPerPage}&page=${page}`),
    listComments,
  },
}
