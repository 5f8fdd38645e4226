import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { maxDeliveredBytes } from '../delivery/live-text.ts'
import { deliveryIsOff, isDelivered } from '../delivery/settings.ts'
import { DomainError, invalidField } from '../errors.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import { findPrompt } from '../prompt-reference.ts'
import type { Repository } from '../repositories/repository.ts'
import type { RepositoryService } from '../repositories/repository-service.ts'
import type { Store } from '../store.ts'
import type { Instant } from '../time.ts'
import { generateTrialId, type Ramp, type Trial, validRamp, validShare } from './trial.ts'

/** What to try, and on how many. */
export interface TrialRequest {
  pull: number | null
  commit: string | null
  repositoryId: number | null
  /** IDs, names or paths; null for all prompts that the commits change. */
  prompts: string[] | null
  share: number | null
  ramp: Ramp | null
}

/** Who starts it. */
export interface Starter {
  access: Pick<Access, 'organisationId' | 'prompts'>
  by: Actor
  name: string
}

type Stores = Pick<Store, 'repositories' | 'prompts' | 'liveTexts' | 'trials'>

export const maxTrialPrompts = 100

/** Starts a trial. What is served is copied now, so that nothing that happens to the branch later matters. */
export async function startTrial(
  stores: Stores,
  repositories: Pick<RepositoryService, 'candidate' | 'texts'>,
  request: TrialRequest,
  { access, by, name }: Starter,
  now: Instant,
): Promise<Trial> {
  const { organisationId } = access
  const ramp = request.ramp === null ? null : validRamp(request.ramp)
  const share = shareOf(request, ramp)
  const repository = await repositoryOf(stores, organisationId, request.repositoryId)
  const settings = await stores.liveTexts.settings(organisationId)
  if (!settings.enabled) throw deliveryIsOff()
  const candidate = await candidateOf(repositories, repository, request)
  const { commitSha } = candidate
  const versions = new Map((await stores.liveTexts.versions(organisationId)).map((live) => [live.promptId, live]))
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
    if (text !== undefined) return [{ prompt, blob, text }]
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
  return stores.trials.start({ ...trial, share, ramp, startedBy: name, startedAt: now, prompts: tried }, by)
}

function shareOf({ share }: TrialRequest, ramp: Ramp | null): number {
  if (ramp !== null && share !== null)
    throw invalidField('share', 'must be left out with ramp, whose first share is served')
  if (ramp !== null) return ramp.shares[0] as number
  if (share === null) throw invalidField('share', 'is required, or ramp')
  return validShare('share', share)
}

async function repositoryOf({ repositories }: Stores, organisationId: number, id: number | null): Promise<Repository> {
  const all = (await repositories.list(organisationId)).filter(({ disconnectedAt }) => disconnectedAt === null)
  if (id !== null) {
    const found = all.find((repository) => repository.id === id)
    if (found === undefined) throw invalidField('repositoryId', 'must be the ID of a connected repository')
    return found
  }
  const [only, another] = all
  if (only === undefined) throw new DomainError('conflict', 'No repository is connected.')
  if (another !== undefined)
    throw invalidField('repositoryId', 'is required, because several repositories are connected')
  return only
}

async function candidateOf(
  repositories: Pick<RepositoryService, 'candidate'>,
  repository: Repository,
  { pull, commit }: TrialRequest,
) {
  if (pull !== null && commit !== null) throw invalidField('commit', 'must be left out with pull')
  if (pull === null && commit === null) throw invalidField('pull', 'is required, or commit')
  const found = await repositories.candidate(repository.id, pull ?? (commit as string).toLowerCase())
  switch (found) {
    case 'unknown':
      if (pull === null) throw invalidField('commit', `is unknown in ${repository.url}`)
      throw invalidField('pull', `is unknown in ${repository.url}`)
    case 'closed':
      throw invalidField('pull', 'is merged or closed already')
    default:
      return found
  }
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
    return all.filter(
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
