import type { Instant } from '../domain/time.ts'
import { git } from '../git/run.ts'
import { applyEdits, type Change, type DemoPrompt, type Person, reviewerOf, type StepKind } from './change.ts'
import { timeline } from './timeline.ts'

/** A step of a pull request, with its commits. */
export interface PullStep {
  kind: Exclude<StepKind, 'pushed'>
  at: Instant
  number: number
  openedAt: Instant
  branch: string
  change: Change
  head: string
  /** The commit on the default branch; null unless merged. */
  landing: string | null
}

const forge = { name: 'GitHub', email: 'noreply@github.com' }
const main = 'refs/heads/main'

/** Creates a bare repository with all changes committed. Returns the steps of its pull requests, oldest first. */
export async function createRepository(folder: string, prompts: DemoPrompt[], now: Instant): Promise<PullStep[]> {
  const { stream, pullSteps } = importStream(prompts, now)
  await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', folder])
  const output = await git(['fast-import', '--quiet', '--done'], { mirror: folder, input: stream })
  const shas = output.toString().split('\n')
  // Marks start at 1.
  const shaOf = (mark: number) => shas[mark - 1] as string
  return pullSteps.map(({ head, landing, ...step }) => ({
    ...step,
    head: shaOf(head),
    landing: landing === null ? null : shaOf(landing),
  }))
}

/** A step whose commits are still marks of `git fast-import`. */
type MarkedStep = Omit<PullStep, 'head' | 'landing'> & { head: number; landing: number | null }

interface Proposal {
  number: number
  openedAt: Instant
  branch: string
  head: number
  text: string
}

/** The input of `git fast-import`, which prints the hash of each commit in order. */
function importStream(prompts: DemoPrompt[], now: Instant): { stream: string; pullSteps: MarkedStep[] } {
  const texts = new Map(prompts.map(({ path, text }) => [path, text]))
  const proposals = new Map<Change, Proposal>()
  const pullSteps: MarkedStep[] = []
  let stream = ''
  let commits = 0
  let tip: number | null = null

  function commit({ ref, by, committer, at, message, merged, path, text }: CommitFacts): number {
    commits += 1
    stream += [
      `commit ${ref}\nmark :${commits}\n`,
      `author ${signature(by, at)}\ncommitter ${signature(committer, at)}\n`,
      data(message),
      tip === null ? '' : `from :${tip}\n`,
      merged === undefined ? '' : `merge :${merged}\n`,
      `M 100644 inline ${path}\n${data(text)}`,
      `get-mark :${commits}\n`,
    ].join('')
    return commits
  }

  for (const { at, kind, prompt, change } of timeline(prompts, now)) {
    const { path } = prompt
    const { author } = change
    if (kind === 'pushed') {
      const text = applyEdits(texts.get(path) as string, change)
      tip = commit({ ref: main, by: author, committer: author, at, message: messageOf(change), path, text })
      texts.set(path, text)
      continue
    }
    if (kind === 'opened') {
      const number = proposals.size + 1
      const text = applyEdits(texts.get(path) as string, change)
      const ref = `refs/pull/${number}/head`
      const head = commit({ ref, by: author, committer: author, at, message: messageOf(change), path, text })
      proposals.set(change, { number, openedAt: at, branch: branchOf(change), head, text })
    }
    const { text, ...proposal } = proposals.get(change) as Proposal
    let landing: number | null = null
    if (kind === 'merged' || kind === 'squashed') {
      const isMerge = kind === 'merged'
      landing = commit({
        ref: main,
        by: isMerge ? reviewerOf(author) : author,
        committer: forge,
        at,
        message: isMerge ? mergeMessage(change, proposal) : messageOf(change, ` (#${proposal.number})`),
        ...(isMerge ? { merged: proposal.head } : {}),
        path,
        text,
      })
      tip = landing
      texts.set(path, text)
    }
    pullSteps.push({ kind, at, change, ...proposal, landing })
  }
  return { stream: `${stream}done\n`, pullSteps }
}

interface CommitFacts {
  ref: string
  by: Pick<Person, 'name' | 'email'>
  committer: Pick<Person, 'name' | 'email'>
  at: Instant
  message: string
  merged?: number
  path: string
  text: string
}

function signature({ name, email }: CommitFacts['by'], at: Instant): string {
  return `${name} <${email}> ${at / 1_000} +0000`
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

function messageOf({ title, why }: Change, suffix = ''): string {
  return `${title}${suffix}\n${why === undefined ? '' : `\n${why}\n`}`
}

function mergeMessage(change: Change, { number, branch }: Pick<Proposal, 'number' | 'branch'>): string {
  return `Merge pull request #${number} from acme/${branch}\n\n${messageOf(change)}`
}

function branchOf({ title }: Change): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .replace(/-$/, '')
}
