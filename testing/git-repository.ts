import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestEnd } from './cleanup.ts'

export interface Person {
  name: string
  email: string
}

export const ada: Person = { name: 'Ada Lovelace', email: 'ada@example.com' }
export const bob: Person = { name: 'Bob', email: 'bob@example.com' }
export const web: Person = { name: 'GitHub', email: 'noreply@github.com' }

export interface CommitFacts {
  author?: Person
  committer?: Person
  /** ISO 8601; one minute after the previous commit by default. */
  at?: string
  authoredAt?: string
}

const minuteMs = 60_000

/** A real git repository: a bare one that stands for the forge's, and a checkout that pushes to it. */
export class GitRepository {
  readonly folder = mkdtempSync(join(tmpdir(), 'promptledger-git-'))
  readonly remote = join(this.folder, 'remote.git')
  readonly checkout = join(this.folder, 'checkout')
  #at = Date.parse('2026-03-01T00:00:00Z')

  constructor({ branch = 'main', format = 'sha1' } = {}) {
    onTestEnd(() => this.remove())
    const init = ['init', '--quiet', `--object-format=${format}`, `--initial-branch=${branch}`]
    this.#run([...init, '--bare', this.remote], this.folder)
    this.#run([...init, this.checkout], this.folder)
    // As on a forge, any commit that a ref leads to can be fetched, including those of pull requests.
    this.inRemote('config', 'uploadpack.allowAnySHA1InWant', 'true')
    this.git('remote', 'add', 'origin', this.remote)
    // Some commands require an identity although they commit nothing.
    this.git('config', 'user.name', ada.name)
    this.git('config', 'user.email', ada.email)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  git(...args: string[]): string {
    return this.#run(args, this.checkout)
  }

  /** Runs a command line in the checkout, as a person would paste it. */
  shell(command: string): string {
    const { PATH = '' } = process.env
    return execFileSync('sh', ['-c', command], { cwd: this.checkout, env: { PATH, HOME: this.folder } }).toString()
  }

  inRemote(...args: string[]): string {
    return this.#run(args, this.remote)
  }

  /** Writes files; null deletes one. */
  write(files: Record<string, string | Buffer | null>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.checkout, path)
      if (text === null) {
        rmSync(file)
        continue
      }
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }

  /** Commits these files and returns the commit's hash. */
  commit(message: string, files: Record<string, string | Buffer | null> = {}, facts: CommitFacts = {}): string {
    this.write(files)
    this.git('add', '--all')
    return this.recorded(['commit', '--quiet', '--allow-empty', '--allow-empty-message', '-m', message], facts)
  }

  /** Merges the branch into the current one with a merge commit. */
  merge(branch: string, message: string, facts: CommitFacts = {}): string {
    return this.recorded(['merge', '--quiet', '--no-ff', '-m', message, branch], facts)
  }

  /** As a forge does on "squash and merge". */
  squash(branch: string, message: string, facts: CommitFacts = {}): string {
    this.git('merge', '--quiet', '--squash', branch)
    return this.recorded(['commit', '--quiet', '-m', message], facts)
  }

  /** As a forge does on "rebase and merge": copies the branch's commits onto the current one. */
  rebase(branch: string, facts: CommitFacts = {}): string[] {
    const commits = this.git('rev-list', '--reverse', `HEAD..${branch}`).split('\n').filter(Boolean)
    return commits.map((commit) => this.recorded(['cherry-pick', '--allow-empty', commit], { ...facts, author: null }))
  }

  switchTo(branch: string, start?: string): void {
    if (start === undefined) this.git('checkout', '--quiet', branch)
    else this.git('checkout', '--quiet', '-B', branch, start)
  }

  push(...refspecs: string[]): void {
    this.git('push', '--quiet', '--force', 'origin', ...(refspecs.length === 0 ? ['HEAD'] : refspecs))
  }

  head(name = 'HEAD'): string {
    return this.git('rev-parse', '--verify', name)
  }

  /** Runs a git command that creates a commit, and returns the commit's hash. */
  recorded(command: string[], facts: Omit<CommitFacts, 'author'> & { author?: Person | null }): string {
    this.#at += minuteMs
    const at = facts.at ?? new Date(this.#at).toISOString()
    const committer = facts.committer ?? ada
    const author = facts.author === undefined ? ada : facts.author
    const identity: Record<string, string> = {
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: at,
    }
    if (author !== null) {
      identity.GIT_AUTHOR_NAME = author.name
      identity.GIT_AUTHOR_EMAIL = author.email
      identity.GIT_AUTHOR_DATE = facts.authoredAt ?? at
    }
    this.#run(command, this.checkout, identity)
    return this.head()
  }

  /** A commit's committer date, in the format of the history. */
  dateOf(commit: string): string {
    return new Date(Number(this.git('show', '--no-patch', '--format=%ct', commit)) * 1_000).toISOString()
  }

  #run(args: string[], cwd: string, env: Record<string, string> = {}): string {
    const { PATH = '' } = process.env
    const output = execFileSync('git', args, {
      cwd,
      env: { PATH, HOME: this.folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    })
    return output.toString().trim()
  }
}
