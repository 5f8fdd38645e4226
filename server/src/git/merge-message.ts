/** What git's message of a merge says about the branch that was merged. Anyone can write it: it names, but does not prove. */
export interface MergedBranch {
  name: string
  /** Where the branch was pulled from: the name of a remote, or a URL as `placeOf` writes it. Null for a local branch. */
  source: string | null
  /** The branch that it was merged into. Git leaves out `master`. */
  into: string | null
}

// The branch names are quoted; GitLab also quotes the target. Older versions of git wrote "remote branch" and "commit".
const mergeSubject = /^Merge (?:remote-tracking branch|remote branch|branch|commit) '([^'\n]{1,200})'([^\n]{0,2000})/
const mergeSource = /^ of (\S+)/
const mergeTarget = / into '?([^'\s]+)'?$/

export function mergedBranchIn(message: string): MergedBranch | null {
  const [, quoted, rest = ''] = mergeSubject.exec(message) ?? []
  if (quoted === undefined) return null
  const into = mergeTarget.exec(rest)?.[1] ?? null
  const [, url] = mergeSource.exec(rest) ?? []
  if (url !== undefined) return { name: quoted, source: placeOf(url), into }
  // Any branch name may contain a slash, but after these it is the branch of a remote.
  const isRemote = !message.startsWith('Merge branch ') || /^(origin|upstream)\//.test(quoted)
  const slash = isRemote ? quoted.indexOf('/') : -1
  if (slash < 0) return { name: quoted, source: null, into }
  return { name: quoted.slice(slash + 1), source: quoted.slice(0, slash), into }
}

/** Equal for URLs of the same repository, over whatever protocol: host and path in lower case. */
export function placeOf(url: string): string {
  return url
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+(?=\/))?\/*/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}

const pulledIntoFork = /^Merge pull request #\d+ from ([\w.-]+)[/:](\S+)$/

/**
 * The branch that the forge merged into a fork: `Merge pull request #1 from acme/main` brings a fork of acme's repository up to date.
 * `places` are the URLs of the repository, as `placeOf` writes them. Null if the branch is of another owner.
 */
export function upstreamBranchIn(message: string, places: ReadonlySet<string>): MergedBranch | null {
  const [subject = ''] = message.split('\n', 1)
  const [, owner, name] = pulledIntoFork.exec(subject) ?? []
  if (owner === undefined || name === undefined) return null
  const source = places.values().find((place) => place.split('/').at(-2) === owner.toLowerCase())
  return source === undefined ? null : { name, source, into: null }
}
