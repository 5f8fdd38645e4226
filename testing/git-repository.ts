import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestEnd } from './cleanup.ts'
import { GitCheckout, writeRef } from './git-checkout.ts'
import { NotSimple } from './git-objects.ts'

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
const isHash = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** As `git init`, without a process. */
function initialize(folder: string, branch: string, config: string): void {
  mkdirSync(join(folder, 'objects/info'), { recursive: true })
  mkdirSync(join(folder, 'objects/pack'))
  mkdirSync(join(folder, 'refs/heads'), { recursive: true })
  writeFileSync(join(folder, 'HEAD'), `ref: refs/heads/${branch}\n`)
  writeFileSync(join(folder, 'config'), config)
}

/** Git never changes a file of objects, so both repositories can have the same one. */
function linkMissing(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) {
      mkdirSync(target, { recursive: true })
      linkMissing(source, target)
    } else if (!existsSync(target)) linkSync(source, target)
  }
}

/** A person and a time as a commit has them. */
function signature({ name, email }: Person, at: string): string {
  const seconds = Math.floor(Date.parse(at) / 1_000)
  const isUsual = /^[\p{L}\p{N}]([^<>\p{Cc}]*[\p{L}\p{N}\])])?$/u.test(name) && /^[\w.+-]+@[\w.-]*\w$/.test(email)
  if (!isUsual || !/^20[2-8]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(at)) throw new NotSimple('git changes it')
  return `${name} <${email}> ${seconds} +0000`
}

/** A message as `git commit` stores it. */
function cleaned(message: string): string {
  const lines = message
    .replaceAll(/[ \t\r]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/^\n+|\n+$/g, '')
  return lines === '' ? '' : `${lines}\n`
}

/** A real git repository: a bare one that stands for the forge's, and a checkout that pushes to it. */
export class GitRepository {
  readonly folder = mkdtempSync(join(tmpdir(), 'promptledger-git-'))
  readonly remote = join(this.folder, 'remote.git')
  readonly checkout = join(this.folder, 'checkout')
  readonly #work: GitCheckout
  #at = Date.parse('2026-03-01T00:00:00Z')

  constructor({ branch = 'main', format = 'sha1' } = {}) {
    onTestEnd(() => this.remove())
    const objectFormat = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`
    const core = `[core]\n\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}\n`
    // As on a forge, any commit that a ref leads to can be fetched, including those of pull requests.
    initialize(this.remote, branch, `${core}\tbare = true\n${objectFormat}[uploadpack]\n\tallowAnySHA1InWant = true\n`)
    const origin = `[remote "origin"]\n\turl = ${this.remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`
    // Some commands require an identity although they commit nothing. Maintenance would be a process per commit.
    const user = `[user]\n\tname = ${ada.name}\n\temail = ${ada.email}\n[maintenance]\n\tauto = false\n`
    initialize(join(this.checkout, '.git'), branch, `${core}${objectFormat}${origin}${user}`)
    this.#work = new GitCheckout(this.checkout, format)
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
    return this.#simply(
      () => this.#work.commitAll(this.#facts(message, facts)),
      () => {
        this.git('add', '--all')
        return this.recorded(['commit', '--quiet', '--allow-empty', '--allow-empty-message', '-m', message], facts)
      },
    )
  }

  /** Merges the branch into the current one with a merge commit. */
  merge(branch: string, message: string, facts: CommitFacts = {}): string {
    return this.#simply(
      () => this.#work.commitMerge(branch, false, this.#facts(message, facts)),
      () => this.recorded(['merge', '--quiet', '--no-ff', '-m', message, branch], facts),
    )
  }

  /** As a forge does on "squash and merge". */
  squash(branch: string, message: string, facts: CommitFacts = {}): string {
    return this.#simply(
      () => this.#work.commitMerge(branch, true, this.#facts(message, facts)),
      () => {
        this.git('merge', '--quiet', '--squash', branch)
        return this.recorded(['commit', '--quiet', '-m', message], facts)
      },
    )
  }

  /** As a forge does on "rebase and merge": copies the branch's commits onto the current one. */
  rebase(branch: string, facts: CommitFacts = {}): string[] {
    return this.#simply(
      () => this.#work.rebase(branch, () => this.#facts('', facts).committer),
      () => {
        const commits = this.git('rev-list', '--reverse', `HEAD..${branch}`).split('\n').filter(Boolean)
        return commits.map((commit) =>
          this.recorded(['cherry-pick', '--allow-empty', commit], { ...facts, author: null }),
        )
      },
    )
  }

  switchTo(branch: string, start?: string): void {
    this.#simply(
      () => this.#work.switchTo(branch, start),
      () => this.git('checkout', '--quiet', ...(start === undefined ? [branch] : ['-B', branch, start])),
    )
  }

  /** Does it without git, which would be a process or two, if that is possible. */
  #simply<T>(simple: () => T, withGit: () => T): T {
    const at = this.#at
    try {
      return simple()
    } catch (error) {
      if (!(error instanceof NotSimple)) throw error
      this.#at = at
      return withGit()
    }
  }

  /** The facts of the next commit, as git writes them. */
  #facts(message: string, { author = ada, committer = ada, at, authoredAt = at }: CommitFacts) {
    this.#at += minuteMs
    const now = new Date(this.#at).toISOString()
    return {
      author: signature(author, authoredAt ?? now),
      committer: signature(committer, at ?? now),
      message: cleaned(message),
    }
  }

  /** As `git push --force`, which would start ten processes. Objects that no ref leads to become part of the remote too. */
  push(...refspecs: string[]): void {
    linkMissing(join(this.checkout, '.git/objects'), join(this.remote, 'objects'))
    for (const refspec of refspecs.length === 0 ? ['HEAD'] : refspecs) {
      const [from = '', to = from === 'HEAD' ? this.#work.branch() : from] = refspec.split(':')
      const ref = to.startsWith('refs/') ? to : `refs/heads/${to}`
      if (from === '') this.inRemote('update-ref', '-d', ref)
      else writeRef(this.remote, ref, this.head(from))
    }
  }

  /** The commit of a branch of the remote; null if it has no such branch. */
  remoteHead(branch: string): string | null {
    const ref = `refs/heads/${branch}`
    const file = join(this.remote, ref)
    if (existsSync(file)) return readFileSync(file, 'utf8').trim()
    return this.inRemote('for-each-ref', '--format=%(objectname)', ref) || null
  }

  /** The commits of a branch after this one, oldest first; all of them without it. */
  commitsAfter(start: string | null, branch: string): string[] {
    return this.#simply(
      () => this.#work.line(this.head(branch), new Set(start === null ? [] : [start])),
      () => {
        const range = start === null ? [branch] : [branch, `^${start}`]
        return this.git('rev-list', '--reverse', ...range)
          .split('\n')
          .filter(Boolean)
      },
    )
  }

  head(name = 'HEAD'): string {
    if (isHash.test(name)) return name
    const branch = name === 'HEAD' ? this.#work.branch() : name
    try {
      return readFileSync(join(this.checkout, '.git/refs/heads', branch), 'utf8').trim()
    } catch {
      return this.git('rev-parse', '--verify', name)
    }
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
