import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type File, type Files, fileMode, GitObjects, NotSimple } from './git-objects.ts'

const linkMode = 0o120000
const submoduleMode = 0o160000
// Git remembers which files it has read. We read all.
const maxFiles = 100
const maxCommits = 100
// Files of git that change what others mean.
const special = new Set(['.git', '.gitignore', '.gitattributes', '.gitmodules'])

export function writeRef(folder: string, ref: string, commit: string): void {
  const file = join(folder, ref)
  mkdirSync(dirname(file), { recursive: true })
  // A fetch never reads half a ref.
  writeFileSync(`${file}.lock`, `${commit}\n`)
  renameSync(`${file}.lock`, file)
}

/**
 * The checkout of a repository, without a git process for each of the thousands of commits of a test run. Throws NotSimple, and has
 * changed nothing, if only git knows what to do.
 */
export class GitCheckout {
  readonly #folder: string
  readonly #gitFolder: string
  readonly #config: string
  readonly #objects: GitObjects

  constructor(folder: string, format: string) {
    this.#folder = folder
    this.#gitFolder = join(folder, '.git')
    this.#config = this.#read('config')
    this.#objects = new GitObjects(this.#gitFolder, format)
  }

  #read(name: string): string {
    return readFileSync(join(this.#gitFolder, name), 'utf8')
  }

  /** The current branch; '' if a commit is checked out instead. */
  branch(): string {
    return /^ref: refs\/heads\/(.+)/.exec(this.#read('HEAD'))?.[1] ?? ''
  }

  /** The commit of a branch; null before its first. */
  tip(branch: string): string | null {
    if (branch === '') throw new NotSimple('no branch is checked out')
    const file = `refs/heads/${branch}`
    if (existsSync(join(this.#gitFolder, file))) return this.#read(file).trim()
    if (existsSync(join(this.#gitFolder, 'packed-refs'))) throw new NotSimple('refs are packed')
    return null
  }

  /** Commits all files, as `git add --all` and `git commit` do. */
  commitAll(facts: { author: string; committer: string; message: string }): string {
    this.#assertUsual()
    const parent = this.tip(this.branch())
    const files: Files = new Map()
    this.#addFolder('', files)
    return this.#commit(files, parent === null ? [] : [parent], facts)
  }

  /** Commits the merge of a branch, with it as another parent unless it `isSquash`. */
  commitMerge(
    branch: string,
    isSquash: boolean,
    facts: { author: string; committer: string; message: string },
  ): string {
    this.#assertUsual()
    const [ours, theirs] = [this.tip(this.branch()), this.tip(branch)]
    if (ours === null || theirs === null) throw new NotSimple('no such branch')
    const base = this.#mergeBase(ours, theirs)
    if (base === theirs) throw new NotSimple('nothing to merge')
    const [current, merged] = [this.#filesOf(ours), this.#merge(base, ours, theirs)]
    if (isSquash && areEqual(current, merged)) throw new NotSimple('nothing to commit')
    this.#update(current, merged)
    return this.#commit(merged, isSquash ? [ours] : [ours, theirs], facts)
  }

  /** Copies the commits of a branch onto the current one. */
  rebase(branch: string, committers: () => string): string[] {
    this.#assertUsual()
    const [ours, theirs] = [this.tip(this.branch()), this.tip(branch)]
    if (ours === null || theirs === null) throw new NotSimple('no such branch')
    const copied = this.line(theirs, this.#ancestors(ours))
    const start = this.#filesOf(ours)
    let files = start
    const trees = copied.map((id) => {
      const before = files
      const {
        parents: [parent = ''],
      } = this.#objects.readCommit(id)
      files = mergeFiles(this.#filesOf(parent), before, this.#filesOf(id))
      if (areEqual(before, files)) throw new NotSimple('nothing to commit')
      return files
    })
    this.#update(start, files)
    return copied.map((id, i) => {
      const { author, message } = this.#objects.readCommit(id)
      const parent = this.tip(this.branch()) as string
      return this.#commit(trees[i] as Files, [parent], { author, message, committer: committers() })
    })
  }

  /** Switches to a branch, which then starts at `start` if there is one. */
  switchTo(branch: string, start?: string): void {
    this.#assertUsual()
    const current = this.tip(this.branch())
    const target = this.tip(start ?? branch)
    if (current === null || target === null) throw new NotSimple('no such branch')
    if (target !== current) {
      const [from, to] = [this.#filesOf(current), this.#filesOf(target)]
      this.#update(from, to)
      this.#objects.writeIndex(to)
    }
    if (start !== undefined) writeRef(this.#gitFolder, `refs/heads/${branch}`, target)
    writeFileSync(join(this.#gitFolder, 'HEAD'), `ref: refs/heads/${branch}\n`)
  }

  /** The commits up to this one that come after those known, oldest first. */
  line(tip: string, known: ReadonlySet<string>): string[] {
    const commits: string[] = []
    for (let id = tip; !known.has(id); ) {
      const { parents } = this.#objects.readCommit(id)
      if (parents.length !== 1 || commits.length >= maxCommits) throw new NotSimple('not a short line of commits')
      commits.unshift(id)
      id = parents[0] as string
    }
    return commits
  }

  #commit(files: Files, parents: string[], facts: { author: string; committer: string; message: string }): string {
    const id = this.#objects.writeCommit({ tree: this.#objects.writeTree(files), parents, ...facts })
    this.#objects.writeIndex(files)
    writeRef(this.#gitFolder, `refs/heads/${this.branch()}`, id)
    return id
  }

  #filesOf(commit: string): Files {
    return this.#objects.readTree(this.#objects.readCommit(commit).tree)
  }

  #assertUsual(): void {
    const isMerging = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'SQUASH_MSG'].some((name) =>
      existsSync(join(this.#gitFolder, name)),
    )
    if (isMerging || this.#read('config') !== this.#config) throw new NotSimple('git is in another state')
  }

  #addFolder(prefix: string, files: Files): void {
    for (const entry of readdirSync(join(this.#folder, prefix), { withFileTypes: true })) {
      const path = prefix + entry.name
      if (path === '.git') continue
      if (special.has(entry.name) || files.size >= maxFiles) throw new NotSimple('git reads some files differently')
      if (entry.isDirectory()) this.#addFolder(`${path}/`, files)
      else files.set(path, this.#add(path))
    }
  }

  #add(path: string): File {
    const { mode, content } = this.#content(path)
    return { mode, id: this.#objects.write('blob', content) }
  }

  #content(path: string): { mode: number; content: Buffer } {
    const file = join(this.#folder, path)
    const stats = lstatSync(file)
    if (stats.isSymbolicLink()) return { mode: linkMode, content: readlinkSync(file, 'buffer') }
    return { mode: stats.mode & 0o100 ? 0o100755 : fileMode, content: readFileSync(file) }
  }

  /** Changes the files that differ. */
  #update(from: Files, to: Files): void {
    if (!areEqual(this.#objects.readIndex(), from)) throw new NotSimple('files were added')
    const changed = [...new Set([...from.keys(), ...to.keys()])].filter(
      (path) => !areSame(from.get(path), to.get(path)),
    )
    for (const path of changed) {
      if (!areSame(this.#present(path), from.get(path))) throw new NotSimple('a file was changed')
      if ([from, to].some((files) => files.get(path)?.mode === submoduleMode)) throw new NotSimple('a submodule')
    }
    const contents = changed.map((path) => {
      const file = to.get(path)
      return { path, mode: file?.mode, content: file && this.#objects.read(file.id) }
    })
    for (const { path, content } of contents) if (content === undefined) this.#remove(path)
    for (const { path, mode, content } of contents) {
      if (content === undefined) continue
      const file = join(this.#folder, path)
      rmSync(file, { force: true })
      mkdirSync(dirname(file), { recursive: true })
      if (mode === linkMode) symlinkSync(content, file)
      else writeFileSync(file, content, { mode: mode === 0o100755 ? 0o755 : 0o644 })
    }
  }

  #present(path: string): File | undefined {
    if (!existsSync(join(this.#folder, path))) return undefined
    const { mode, content } = this.#content(path)
    return { mode, id: this.#objects.idOf('blob', content) }
  }

  #remove(path: string): void {
    rmSync(join(this.#folder, path))
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (readdirSync(join(this.#folder, folder)).length > 0) return
      rmdirSync(join(this.#folder, folder))
    }
  }

  #merge(base: string, ours: string, theirs: string): Files {
    return mergeFiles(this.#filesOf(base), this.#filesOf(ours), this.#filesOf(theirs))
  }

  #mergeBase(ours: string, theirs: string): string {
    const others = this.#ancestors(theirs)
    const common = new Set([...this.#ancestors(ours)].filter((id) => others.has(id)))
    const behind = new Set([...common].flatMap((id) => this.#objects.readCommit(id).parents))
    const [base, ...more] = [...common].filter((id) => !behind.has(id))
    if (base === undefined || more.length > 0) throw new NotSimple('several merge bases, or none')
    return base
  }

  #ancestors(id: string, found = new Set<string>()): Set<string> {
    const waiting = [id]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (found.has(next)) continue
      if (found.size >= maxCommits) throw new NotSimple('many commits')
      found.add(next)
      waiting.push(...this.#objects.readCommit(next).parents)
    }
    return found
  }
}

function areSame(a: File | undefined, b: File | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

function areEqual(a: Files, b: Files): boolean {
  return a.size === b.size && [...a].every(([path, file]) => areSame(file, b.get(path)))
}

/** Merges whole files, where no side has moved one. */
function mergeFiles(base: Files, ours: Files, theirs: Files): Files {
  const merged: Files = new Map()
  for (const side of [ours, theirs]) {
    const isRemoved = [...base.keys()].some((path) => !side.has(path))
    const isAdded = [...side.keys()].some((path) => !base.has(path))
    if (isRemoved && isAdded && !areEqual(base, side === ours ? theirs : ours))
      throw new NotSimple('a file may have moved')
  }
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, our, their] = [base.get(path), ours.get(path), theirs.get(path)]
    const file = areSame(before, our) ? their : our
    if (file === our && !areSame(before, their) && !areSame(our, their)) throw new NotSimple('both changed a file')
    if (file !== undefined) merged.set(path, file)
  }
  return merged
}
