import type { ForgeName, Repository } from './repository.ts'
import { isHttpUrl } from './repository-url.ts'

/** What a token needs to report on pull requests, in the words of each forge. */
const scopes: Record<ForgeName, string> = {
  github: 'read and write access to Pull requests and Commit statuses (a classic token: the scope repo)',
  gitlab: 'the scope api and the role Developer',
  gitea: 'the scopes write:issue and write:repository',
  forgejo: 'the scopes write:issue and write:repository',
  bitbucket: 'the scopes pullrequest:write and repository:write',
}

export function reportScopes(forge: ForgeName): string {
  return scopes[forge]
}

type TokenFacts = Pick<Repository, 'forge' | 'url' | 'sealedToken'>

/** Why the repository cannot be reported on without trying. Null if it has a token. */
export function missingReportToken({ forge, url, sealedToken }: TokenFacts): string | null {
  if (sealedToken !== null) return null
  const how = isHttpUrl(url) ? 'Set one' : 'A deploy key is not enough: connect the repository by https:// with one'
  return `Reports on pull requests need a token with ${scopes[forge]}. ${how}.`
}

/** Why reports on pull requests fail. Null if they succeed, or are off. */
export function reportProblem(repository: Repository): string | null {
  const { reportsOnPulls, disconnectedAt, reportError } = repository
  if (!reportsOnPulls || disconnectedAt !== null) return null
  return missingReportToken(repository) ?? reportError
}
