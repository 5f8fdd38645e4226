import { forgeWarning } from './forge-host.ts'
import { patternsOverlap } from './path-overlap.ts'
import { missingReportToken } from './report-token.ts'
import type { Repository } from './repository.ts'
import { repositoryIdentity, repositoryPlace } from './repository-identity.ts'
import { isPlainHttpUrl } from './repository-url.ts'

type ConnectionFacts = Pick<
  Repository,
  'forge' | 'url' | 'path' | 'sealedToken' | 'reportsOnPulls' | 'opensIssues' | 'briefsPulls'
> & {
  id: number | null
}

/** Probable mistakes that may be intended, so they do not reject the connection. `others` are the repositories of the organisation. */
export function connectionWarnings(connection: ConnectionFacts, others: Repository[]): string[] {
  const { id, forge, url, sealedToken } = connection
  const connected = others.filter((other) => other.id !== id && other.disconnectedAt === null)
  return [
    forgeWarning(forge, url),
    sealedToken !== null && isPlainHttpUrl(url)
      ? 'The token is sent over plain http: anyone on the way to the server can read it.'
      : null,
    missingReportToken(connection),
    ...connected.map((other) => overlapWarning(connection, other)),
  ].filter((warning) => warning !== null)
}

function overlapWarning({ url, path }: ConnectionFacts, other: Repository): string | null {
  if (repositoryPlace(url) !== repositoryPlace(other.url) || !patternsOverlap(path, other.path)) return null
  const same =
    repositoryIdentity(url) === repositoryIdentity(other.url)
      ? `Repository ${other.id} is the same repository`
      : `Repository ${other.id} (${other.url}) is probably the same repository`
  return `${same}, and its prompt files ${other.path} overlap with ${path}. A file that matches both becomes two prompts.`
}
