import type { ForgeName, Repository } from './repository.ts'
import { isHttpUrl } from './repository-url.ts'

/** What a token needs, in the words of each forge. */
export const tokenScopes: Record<'reports' | 'proposals' | 'issues', Record<ForgeName, string>> = {
  reports: {
    github: 'read and write access to Pull requests and Commit statuses (a classic token: the scope repo)',
    gitlab: 'the scope api and the role Developer',
    gitea: 'the scopes write:issue and write:repository',
    forgejo: 'the scopes write:issue and write:repository',
    bitbucket: 'the scopes pullrequest:write and repository:write',
  },
  proposals: {
    github: 'read and write access to Contents and Pull requests (a classic token: the scope repo)',
    gitlab: 'the scopes api and write_repository, and the role Developer',
    gitea: 'the scope write:repository, and write access to the repository',
    forgejo: 'the scope write:repository, and write access to the repository',
    bitbucket: 'the scopes repository:write and pullrequest:write',
  },
  issues: {
    github: 'read and write access to Issues (a classic token: the scope repo)',
    gitlab: 'the scope api and the role Reporter',
    gitea: 'the scope write:issue',
    forgejo: 'the scope write:issue',
    bitbucket: 'nothing: issues on Bitbucket are not supported',
  },
}

type TokenFacts = Pick<Repository, 'forge' | 'url' | 'sealedToken'>

/** Why the repository cannot be reported on without trying. Null if it can, or is not to be. */
export function missingReportToken(
  repository: TokenFacts & Pick<Repository, 'reportsOnPulls' | 'opensIssues' | 'briefsPulls'>,
): string | null {
  const { forge, reportsOnPulls, opensIssues, briefsPulls } = repository
  if (reportsOnPulls) return missingToken(repository, 'Reports on pull requests need', tokenScopes.reports[forge])
  if (briefsPulls) return missingToken(repository, 'Briefings need', tokenScopes.reports[forge])
  return opensIssues ? missingToken(repository, 'Issues need', tokenScopes.issues[forge]) : null
}

/** Why the API of the forge cannot be used. `needs` starts the sentence. */
export function missingToken({ url, sealedToken }: TokenFacts, needs: string, scopes: string): string | null {
  if (sealedToken !== null) return null
  const how = isHttpUrl(url) ? 'Set one' : 'A deploy key is not enough: connect the repository by https:// with one'
  return `${needs} a token with ${scopes}. ${how}.`
}

/** Why comments on pull requests or issues fail. Null if they succeed, or are off. */
export function reportProblem(repository: Repository): string | null {
  const { reportsOnPulls, opensIssues, briefsPulls, disconnectedAt, reportError } = repository
  if (!(reportsOnPulls || opensIssues || briefsPulls) || disconnectedAt !== null) return null
  return missingReportToken(repository) ?? reportError
}
