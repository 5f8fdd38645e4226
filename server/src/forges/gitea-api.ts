import { isoTime } from '../domain/time.ts'
import { type ForgeApi, repositoryAddress } from './forge-api.ts'
import { githubApi } from './github-api.ts'

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

  listComments(repositoryUrl, pull, page, since) {
    if (page > 1) return null
    const query = `since=${encodeURIComponent(isoTime(since))}`
    return { method: 'GET', url: `${repositoryUrl}/issues/${pull}/comments?${query}`, body: null }
  },
}
