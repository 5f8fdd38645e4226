import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { maxDeliveredBytes } from '../delivery/live-text.ts'
import { deliveryIsOff, isDelivered } from '../delivery/settings.ts'
import { DomainError, invalidField } from '../errors.ts'
import { isFullSha } from '../history/entry.ts'
import { stateOf } from '../history/pull.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import { findPrompt } from '../prompt-reference.ts'
import type { Repository } from '../repositories/repository.ts'
import type { Candidate, RepositoryService } from '../repositories/repository-service.ts'
import type { Store } from '../store.ts'
import { filterInTurns, type Instant } from '../time.ts'
import { generateTrialId, type Ramp, type Trial, validRamp, validShare } from './trial.ts'

/** What to try. */
interface CandidateRequest {
  pull: number | null
  /** A full hash. With a pull request, the head that was reviewed. */
  commit: string | null
  repositoryId: number | null
}

/** What to try, and on how many. */
interface TrialRequest extends CandidateRequest {
  /** IDs, names or paths; null for all prompts that the commits change. */
  prompts: string[] | null
  share: number | null
  ramp: Ramp | null
}

/** Who starts it. */
interface Starter {
  access: Pick<Access, 'organisationId' | 'prompts'>
  by: Actor
  name: string
}

type Stores = Pick<Store, 'repositories' | 'prompts' | 'liveTexts' | 'trials' | 'facts'>

const maxTrialPrompts = 100
const maxListed = 20

/** Starts a trial. What is served is copied now, so that nothing that happens to the branch later matters. */
export async function startTrial(
  stores: Stores,
  repositories: Pick<RepositoryService, 'candidate' | 'texts' | 'deliveredBytes'>,
  request: TrialRequest,
  { access, by, name }: Starter,
  now: Instant,
): Promise<Trial> {
  const { organisationId } = access
  const ramp = request.ramp === null ? null : validRamp(request.ramp)
  const share = shareOf(request, ramp)
  const repository = await repositoryOf(stores, access, request)
  const settings = await stores.liveTexts.settings(organisationId)
  if (!settings.enabled) throw deliveryIsOff()
  const candidate = await candidateOf(repositories, repository, request)
  checkReviewed(request, candidate)
  const { commitSha } = candidate
  const stored = (await stores.liveTexts.versions(organisationId)).filter(({ size }) => size !== null)
  const versions = new Map(stored.map((live) => [live.promptId, live]))
  const wanted = await promptsOf(stores, access, repository, request.prompts)
  const isNamed = request.prompts !== null
  const blobs = new Map<number, string>()
  for (const prompt of wanted) {
    const blob = candidate.blobs.get(prompt.path as string) ?? null
    const isChanged = candidate.changed.includes(prompt.path as string)
    if (!isNamed && !isChanged) continue
    const problem = problemOf(prompt, commitSha, blob, versions.get(prompt.id), isDelivered(settings, prompt))
    if (problem === null) blobs.set(prompt.id, blob as string)
    else if (isNamed) throw invalidField('prompts', problem)
  }
  if (blobs.size === 0) {
    const isLive = candidate.isMerged || wanted.some(({ id }) => versions.get(id)?.commitSha === commitSha)
    throw invalidField(
      request.pull === null ? 'commit' : 'pull',
      isLive
        ? `is live already (${short(commitSha)})`
        : `does not change a prompt that is delivered (${short(commitSha)})`,
    )
  }
  if (blobs.size > maxTrialPrompts)
    throw invalidField('prompts', `must be at most ${maxTrialPrompts}. Name some of them`)
  const { texts, tooLarge } = await repositories.texts(repository.id, [...blobs.values()], maxDeliveredBytes)
  const tried = wanted.flatMap((prompt) => {
    const blob = blobs.get(prompt.id)
    if (blob === undefined) return []
    const text = texts.get(blob)
    const { commitSha: control } = versions.get(prompt.id) as { commitSha: string }
    if (text !== undefined) return [{ prompt, blob, text, controls: [control] }]
    const why = tooLarge.includes(blob) ? 'is too large or no text' : 'cannot be read from git'
    throw invalidField('prompts', `cannot be tried: the text of ${prompt.name} in ${short(commitSha)} ${why}`)
  })
  const trial = {
    organisationId,
    id: generateTrialId(),
    repositoryId: repository.id,
    prNumber: request.pull,
    commitSha,
  }
  const started = { ...trial, share, ramp, startedBy: name, startedAt: now, prompts: tried }
  return stores.trials.start(started, by, repositories.deliveredBytes)
}

function shareOf({ share }: TrialRequest, ramp: Ramp | null): number {
  if (ramp !== null && share !== null)
    throw invalidField('share', 'must be left out with ramp, whose first share is served')
  if (ramp !== null) return ramp.shares[0] as number
  if (share === null) throw invalidField('share', 'is required, or ramp')
  return validShare('share', share)
}

/** The repository that is meant. Without an ID, it is the only one, or the only one with such a pull request. */
async function repositoryOf(
  { repositories, facts, prompts }: Stores,
  { organisationId, prompts: glob }: Starter['access'],
  { repositoryId, pull }: CandidateRequest,
): Promise<Repository> {
  const connected = (await repositories.list(organisationId)).filter(({ disconnectedAt }) => disconnectedAt === null)
  const ofKey =
    glob === null
      ? null
      : await filterInTurns(await prompts.list(organisationId), (each) => matchesPromptGlob(glob, each))
  // For a limited key, a repository without a prompt that it may see does not exist.
  const all = connected.filter(({ id }) => ofKey === null || ofKey.some((prompt) => prompt.repositoryId === id))
  if (repositoryId !== null) {
    const found = all.find((repository) => repository.id === repositoryId)
    if (found === undefined) throw invalidField('repositoryId', 'must be the ID of a connected repository')
    return found
  }
  const [only, another] = all
  if (only === undefined) throw new DomainError('conflict', 'No repository is connected.')
  if (another === undefined) return only
  const having: Repository[] = []
  for (const repository of all) {
    const [found] = pull === null ? [] : await facts.pulls(repository, [pull])
    if (found !== undefined && stateOf(found) === 'open') having.push(repository)
  }
  const [one, more] = having
  if (one !== undefined && more === undefined) return one
  const listed = (having.length === 0 ? all : having).slice(0, maxListed).map(({ id, url }) => `${id} (${url})`)
  throw invalidField('repositoryId', `is required, because several repositories are connected: ${listed.join(', ')}`)
}

/** The commit to try. Throws unless someone with write access pushed it to a branch, or the starter names its pull request. */
async function candidateOf(
  repositories: Pick<RepositoryService, 'candidate'>,
  repository: Repository,
  { pull, commit }: CandidateRequest,
): Promise<Candidate> {
  if (pull === null && commit === null) throw invalidField('pull', 'is required, or commit')
  const reviewed = commit?.toLowerCase() ?? null
  // Anyone can open a pull request whose commit begins with given digits.
  if (reviewed !== null && !isFullSha(reviewed)) {
    throw invalidField('commit', 'must be a full hash of 40 or 64 digits')
  }
  const found = await repositories.candidate(repository.id, pull ?? (reviewed as string))
  const named = pull === null ? 'commit' : 'pull'
  if (found === 'unknown') throw invalidField(named, `is unknown in ${repository.url}`)
  if (found === 'closed') throw invalidField('pull', 'is merged or closed already')
  if ('unreadable' in found) {
    throw invalidField(named, `cannot be read from ${repository.url}: ${found.unreadable}. Retry later`)
  }
  if (pull === null) {
    if (found.isOwnBranch || found.isMerged) return found
    throw invalidField(
      'commit',
      `must be the head of a branch of ${repository.url}, or on its default branch. For a pull request, give its number as pull too`,
    )
  }
  if (reviewed !== null && reviewed !== found.commitSha) {
    throw invalidField('commit', `is not the head of pull request ${pull}, which is ${found.commitSha} now`)
  }
  return found
}

/** The head of a fork's branch can change between the review and the start, so the reviewer names it. */
function checkReviewed({ pull, commit }: CandidateRequest, { isOwnBranch }: Candidate): void {
  if (pull === null || commit !== null || isOwnBranch) return
  throw invalidField(
    'commit',
    `is required, because pull request ${pull} comes from a fork, whose owner can push at any time. Give the commit that you reviewed`,
  )
}

/** What a trial would serve now. */
interface Preview {
  repository: Repository
  candidate: Candidate
  /** Those that the commits change, as far as the key may see them. */
  prompts: Prompt[]
}

/** Shows what a trial would serve, so that it can be reviewed and named. */
export async function previewCandidate(
  stores: Stores,
  repositories: Pick<RepositoryService, 'candidate'>,
  request: CandidateRequest,
  access: Starter['access'],
): Promise<Preview> {
  const repository = await repositoryOf(stores, access, request)
  const candidate = await candidateOf(repositories, repository, request)
  const all = await promptsOf(stores, access, repository, null)
  return { repository, candidate, prompts: all.filter(({ path }) => candidate.changed.includes(path as string)) }
}

/** The prompts with a file in the repository that the starter may try. */
async function promptsOf(
  { prompts }: Stores,
  access: Starter['access'],
  repository: Repository,
  references: string[] | null,
): Promise<Prompt[]> {
  if (references === null) {
    const all = await prompts.list(access.organisationId)
    return filterInTurns(
      all,
      (prompt) =>
        prompt.repositoryId === repository.id && prompt.path !== null && matchesPromptGlob(access.prompts, prompt),
    )
  }
  const found = new Map<number, Prompt>()
  for (const reference of references) {
    const prompt = await findPrompt(prompts, access, reference)
    if (prompt === null) throw invalidField('prompts', 'must be IDs, names or paths of prompts, but one is unknown')
    if (prompt.repositoryId !== repository.id || prompt.path === null) {
      throw invalidField('prompts', `must have files in ${repository.url}, but ${prompt.name} has none`)
    }
    found.set(prompt.id, prompt)
  }
  return [...found.values()]
}

/** Why a prompt cannot be tried; null if it can. */
function problemOf(
  { name }: Prompt,
  commitSha: string,
  blob: string | null,
  live: { commitSha: string; blob: string } | undefined,
  isDelivered: boolean,
): string | null {
  if (!isDelivered) return `must be delivered, but the settings of text delivery exclude ${name}`
  if (live === undefined) return `must have a live text, but ${name} has none yet`
  if (blob === null) return `must be part of the commit, but ${short(commitSha)} has no file of ${name}`
  if (live.commitSha === commitSha) return `must not be live, but ${short(commitSha)} is the live version of ${name}`
  if (live.blob === blob) return `must be changed by the commit, but ${name} has the live text in ${short(commitSha)}`
  return null
}

function short(commitSha: string): string {
  return commitSha.slice(0, 7)
}
