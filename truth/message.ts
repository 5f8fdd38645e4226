import type { Commit } from './commit.ts'

/** The pull requests that a message names, the likeliest first. */
export interface Named {
  numbers: number[]
  /** The project's path, where the message has it: GitLab's `See merge request group/project!7`. */
  project: string | null
}

const gitlab = /^See merge request (\S*)!(\d+)\s*$/m
const reviewedOn = /^Reviewed-on: \S+?\/([^/\s]+\/[^/\s]+)\/pulls\/(\d+)\s*$/m
const bitbucket = /^Merged in .*\(pull request #(\d+)\)/
const inSubject = /(?:#|\bGH-|!)(\d{1,9})\b/gi

/** Reads every number of the subject, so that proof decides and not the wording. */
export function named({ subject, message }: Pick<Commit, 'subject' | 'message'>, forge: string): Named {
  if (forge === 'gitlab') {
    const [, project = '', number] = gitlab.exec(message) ?? []
    return number === undefined ? nothing : { numbers: [Number(number)], project }
  }
  if (forge === 'bitbucket') {
    const [, number] = bitbucket.exec(subject) ?? []
    return number === undefined ? nothing : { numbers: [Number(number)], project: null }
  }
  const [, , reviewed] = reviewedOn.exec(message) ?? []
  const numbers = [...subject.matchAll(inSubject)].map(([, number]) => Number(number)).reverse()
  return { numbers: reviewed === undefined ? numbers : [Number(reviewed), ...numbers], project: null }
}

/** A pull request by the URL of its page. */
export interface Page {
  /** Host and path of the repository, in lower case. */
  repository: string
  number: number
  /** Whether a tool wrote it. */
  isTrailer: boolean
}

const pageLine = /^(Part-of: <|PR-URL: ?<?|<?)https?:\/\/(\S+?)(?:\/-)?\/(?:merge_requests|pull)\/(\d{1,9})>?$/

/** The URL that is a line of its own in the last paragraph, as merge bots write it. */
export function pageIn(message: string): Page | null {
  const [, ...paragraphs] = message.trim().split(/\n\s*\n/)
  const lines = paragraphs.at(-1)?.split('\n') ?? []
  if (lines.some((line) => line.startsWith('(cherry picked from commit '))) return null
  for (const line of lines.reverse()) {
    const [, prefix = '', repository, number] = pageLine.exec(line.trim()) ?? []
    if (repository === undefined) continue
    return { repository: repository.toLowerCase(), number: Number(number), isTrailer: prefix.length > 1 }
  }
  return null
}

const nothing: Named = { numbers: [], project: null }

const marks = [
  /^Merge pull request #\d+ (?:from|in) /,
  /^Merged in .*\(pull request #\d+\)/,
  /^Merge pull request '.*' \(#\d+\) from /,
  /^Auto merge of #\d+ - /,
  /^Merge branch '.*' into '.*'$/,
]

/** Whether the message is one that a forge, or its merge bot, writes for a merge. */
export function isForgeMerge({ subject, message }: Pick<Commit, 'subject' | 'message'>): boolean {
  return gitlab.test(message) || marks.some((mark) => mark.test(subject))
}

export interface MergedBranch {
  name: string
  remote: string | null
  /** `owner/project` of the URL that was pulled from. */
  project: string | null
  into: string | null
}

const merged = /^Merge (?:remote[- ](?:tracking )?)?(?:branch|commit) '([^']+)'(?: of (\S+))?(?: into (\S+))?/

/** The branch that git's own merge message names. */
export function mergedBranch(subject: string): MergedBranch | null {
  const [, branch, url, into = null] = merged.exec(subject) ?? []
  if (branch === undefined) return null
  // Any branch may have a slash in its name, but after these words it is the branch of a remote.
  const isRemote = /^Merge remote[- ]/.test(subject)
  const ofRemote = isRemote ? /^(?:refs\/remotes\/)?([^/]+)\/(.+)$/ : /^(?:refs\/remotes\/)?(origin|upstream)\/(.+)$/
  const [, remote = null, name = branch] = ofRemote.exec(branch) ?? []
  return { name, remote, project: url === undefined ? null : projectOf(url), into }
}

/** `owner/project` at the end of a URL, in lower case. */
export function projectOf(url: string): string {
  const path = url.replace(/^\w+:\/\/[^/]+\//, '').replace(/^[^/]*:/, '')
  return path
    .replace(/^\/+|\/+$|\.git\/*$/g, '')
    .split('/')
    .slice(-2)
    .join('/')
    .toLowerCase()
}

/** The branch that `Merge pull request #1 from acme/main` names: the owner of the merged branch, and its name. */
export function mergedPullBranch(subject: string): { owner: string; name: string } | null {
  const [, owner, name] = /^Merge pull request #\d+ from ([^/:\s]+)[/:](\S+)$/.exec(subject) ?? []
  return owner === undefined || name === undefined ? null : { owner: owner.toLowerCase(), name }
}
