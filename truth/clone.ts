import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Clone, gitFields, gitText } from './git.ts'
import type { Heads } from './heads.ts'
import { projectOf } from './message.ts'

const run = promisify(execFile)

export interface OpenedClone extends Clone {
  branch: string
  tip: string
  /** The URL that it was cloned from; empty if unknown. */
  origin: string
  /** `owner/project` of the repository that it is a clone of; null if unknown. */
  project: string | null
  /** The default branch's name, and former ones. */
  names: Set<string>
  branches: Set<string>
  boundary: Set<string>
}

/** Opens a clone, bare or not. Its default branch is the one that HEAD names. */
export async function openClone(path: string, folder: string, url: string | undefined): Promise<OpenedClone> {
  const scratch = join(folder, 'scratch')
  mkdirSync(join(scratch, 'objects'), { recursive: true })
  const { stdout } = await run('git', ['-C', resolve(path), 'rev-parse', '--absolute-git-dir']).catch(() => {
    throw new Error(`${path} is not a git repository`)
  })
  const clone = { path: stdout.trim(), scratch }
  const head = await gitText(clone, ['symbolic-ref', '--quiet', 'HEAD']).catch(() => {
    throw new Error(`HEAD of ${path} names no branch. Check out the default branch, or clone with --mirror`)
  })
  const branch = head.trim().replace(/^refs\/heads\//, '')
  const tip = (await gitText(clone, ['rev-parse', '--verify', 'HEAD^{commit}'])).trim()
  const origin = url ?? (await gitText(clone, ['config', '--get', 'remote.origin.url']).catch(() => '')).trim()
  const branches = await branchesOf(clone)
  const isAddress = /^\w+:\/\/|^[\w.-]+@[\w.-]+:/.test(origin) && !origin.startsWith('file:')
  return {
    ...clone,
    branch,
    tip,
    origin,
    project: isAddress ? projectOf(origin) : null,
    names: namesOf(branch, branches),
    branches,
    boundary: await boundaryOf(clone),
  }
}

async function branchesOf(clone: Clone): Promise<Set<string>> {
  const refs = ['refs/heads', 'refs/remotes/origin']
  const names = await gitText(clone, ['for-each-ref', '--format=%(refname:lstrip=2)', ...refs])
  return new Set(names.split('\n').map((name) => name.replace(/^origin\//, '')))
}

/** A default branch that was renamed leaves no branch with its former name. */
function namesOf(branch: string, branches: Set<string>): Set<string> {
  return new Set([branch, ...['master', 'main'].filter((former) => !branches.has(former))])
}

async function boundaryOf(clone: Clone): Promise<Set<string>> {
  const file = (await gitText(clone, ['rev-parse', '--git-path', 'shallow'])).trim()
  const text = await readFile(resolve(clone.path, file), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter(Boolean))
}

/**
 * The repository to connect. If the clone has its heads of pull requests in other places than the forge, a bare clone
 * that shares its objects, with the refs where the forge publishes them.
 */
export async function asPublished(clone: OpenedClone, folder: string, { elsewhere }: Heads): Promise<string> {
  if (elsewhere.length === 0) return clone.path
  const published = join(folder, 'published.git')
  await run('git', ['clone', '--quiet', '--bare', '--shared', '--branch', clone.branch, clone.path, published])
  await run('git', ['-C', published, 'config', 'remote.origin.url', clone.origin])
  const updates: string[] = []
  for (const { ref, published: target } of elsewhere) {
    const sha = (await gitText(clone, ['rev-parse', '--verify', ref])).trim()
    updates.push(`create ${target} ${sha}\n`)
  }
  await gitText({ path: published, scratch: published }, ['update-ref', '--stdin'], updates.join(''))
  return published
}

/** The project that most messages of GitLab name. */
export function mostNamed(commits: { named: { project: string | null } }[]): string | null {
  const counts = new Map<string, number>()
  for (const { named } of commits) {
    const project = named.project?.toLowerCase()
    if (project) counts.set(project, (counts.get(project) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}

export async function countCommits(clone: Clone, tip: string): Promise<number> {
  for await (const line of gitFields(clone, ['rev-list', '--count', tip, '--'], '\n')) return Number(line)
  return 0
}
