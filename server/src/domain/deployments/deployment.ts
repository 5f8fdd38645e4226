import { hash } from 'node:crypto'
import type { Actor } from '../access/audit.ts'
import { invalidField } from '../errors.ts'
import { validCommitSha } from '../history/entry.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Lease } from '../repositories/lease.ts'
import type { Repository } from '../repositories/repository.ts'
import { validName } from '../text.ts'
import type { Instant } from '../time.ts'
import type { LineEvent, LineSegment, Place } from './live-line.ts'
import type { ModelEvent } from './model-line.ts'
import { type DeploymentState, wholeShare } from './state.ts'

/** What a forge or a CI system reports. */
export interface ReportedDeployment {
  environment: string
  /** Whether the forge calls the environment production; null if it does not say. */
  flagged: boolean | null
  /** Full, or abbreviated by some forges. */
  commitSha: string
  state: DeploymentState
  /** The part of the traffic that it serves, in millionths. */
  share: number
  at: Instant
  /** The forge's ID of the deployment that the state is about. */
  forgeDeploymentId: string | null
}

export interface NewDeployment extends ReportedDeployment {
  /** `api`, or the forge that reported it. */
  source: string
  /** Deployments of one repository, or one prompt, with the same key are recorded only once. */
  dedupeKey: string
  /** The time of receipt stands in for the time of the deployment, which was not reported. */
  atReceipt: boolean
  /** The model that it serves; null if its reporter does not say. Forges never do. */
  model: string | null
}

/** Where the commit of a deployment is: not looked for yet, on the line of the default branch, or not found on it. */
export const commitStates = ['pending', 'located', 'not_on_line'] as const

export type CommitState = (typeof commitStates)[number]

export interface Deployment extends ReportedDeployment {
  id: number
  scope: 'repository' | 'prompt'
  /** Whether the environment counts as production. */
  production: boolean
  receivedAt: Instant
  source: string
  model: string | null
  place: Place | null
  commitState: CommitState
}

/** What a deployment is of: all prompts of a repository, or one prompt. */
export type DeploymentTarget = { repository: Repository } | { prompt: Prompt; repository: Repository | null }

export interface DeploymentStore extends CommitPlaces {
  /** Returns the existing deployment if the same one was recorded before. */
  record(
    target: DeploymentTarget,
    deployment: NewDeployment,
    receivedAt: Instant,
    by: Actor,
  ): Promise<{ deployment: Deployment; isNew: boolean }>
  /** Newest first. For a prompt, also those of its repository. */
  page(target: DeploymentTarget, request: PageRequest): Promise<{ deployments: Deployment[]; totalCount: number }>
  /** What was live in production according to the deployments of the repository. */
  line(organisationId: number, repositoryId: number): Promise<LineSegment[]>
  /** The same for a prompt with production deployments of its own, together with those of its repository; null without. */
  promptLine(prompt: Prompt): Promise<LineSegment[] | null>
  /**
   * The newest deployments that concern the prompt and change what runs in any environment, up to `at`, in order of time. The place of
   * one that is not located has no position.
   */
  environmentEvents(prompt: Prompt, at: Instant, limit: number): Promise<(LineEvent & { production: boolean })[]>
  /**
   * The newest 1,000 production deployments before `until` that concern the prompt, with the models that they serve, in order of time. Empty
   * if none names a model.
   */
  modelEvents(prompt: Prompt, until: Instant): Promise<ModelEvent[]>
  /** Which of these prompts have production deployments of their own. */
  deployedPrompts(organisationId: number, promptIds: number[]): Promise<Set<number>>
}

const maxEnvironmentLength = 255
const maxModelLength = 200

interface SubmittedDeployment {
  environment: string
  commitSha: string
  state: DeploymentState
  /** From 0 (exclusive) to 1. */
  share: number
  /** Null for now. */
  at: Instant | null
  model?: string | null
}

/** Validates a deployment that was submitted through the API or the CLI. */
export function newDeployment(input: SubmittedDeployment, now: Instant): NewDeployment {
  validName('environment', input.environment, maxEnvironmentLength)
  const model = input.model == null ? null : validName('model', input.model, maxModelLength)
  const commitSha = validCommitSha(input.commitSha)
  const share = Math.round(input.share * wholeShare)
  if (!(share > 0 && input.share <= 1)) throw invalidField('share', 'must be greater than 0 and at most 1')
  if (input.at !== null && input.at > now) throw invalidField('at', 'must not be in the future')
  const reported: ReportedDeployment = {
    environment: input.environment,
    flagged: null,
    commitSha,
    state: input.state,
    share,
    at: input.at ?? now,
    forgeDeploymentId: null,
  }
  return {
    ...reported,
    source: 'api',
    dedupeKey: dedupeKey('api', reported, model),
    atReceipt: input.at === null,
    model,
  }
}

/** A deployment that a forge reported. Names from forges are shown as they are, without control characters. */
export function reportedDeployment(source: string, reported: ReportedDeployment, receivedAt: Instant): NewDeployment {
  // The clock of the forge may be ahead of ours.
  const at = Math.min(reported.at, receivedAt)
  const environment = reported.environment.slice(0, maxEnvironmentLength).toWellFormed()
  return {
    ...reported,
    environment,
    at,
    source,
    dedupeKey: dedupeKey(source, reported, null),
    atReceipt: false,
    model: null,
  }
}

function dedupeKey(source: string, reported: ReportedDeployment, model: string | null): string {
  const { environment, commitSha, state, share, at, forgeDeploymentId } = reported
  const values = [source, environment, commitSha, state, share, at, forgeDeploymentId]
  // Without a model, the key is that of deployments that were recorded before models were.
  return hash('sha256', JSON.stringify(model === null ? values : [...values, model]), 'base64url')
}

/** What a sync found out about a commit. */
export interface FoundPlace {
  /** The commit as it was reported, full or abbreviated. */
  commit: string
  /** False if the line of the default branch does not have it, or has several commits that start like it. */
  located: boolean
  /** The newest commit at or before it that changed a prompt; null if none did. */
  anchor: string | null
}

/** Where commits are on the line of the default branch, which only a sync can find out: most change no prompt. */
export interface CommitPlaces {
  /** The places of these commits. Those that are not known to be on the line are omitted. */
  places(organisationId: number, repositoryId: number, commits: string[]): Promise<Map<string, Place>>
  /** The newest located commits whose last change of a prompt is at or after this position. */
  placesFrom(organisationId: number, repositoryId: number, seq: number): Promise<Place[]>
  /**
   * The commits of production deployments that the line has not been searched for, or that a newer `tip` may have brought, and those
   * that run in other environments and have not been searched for.
   */
  unlocatedDeployments(repository: Repository, tip: string, now: Instant, limit: number): Promise<string[]>
  /**
   * The newest commits that signals since this time name as their version, and that the line has not been searched for, or
   * that a newer `tip` may have brought.
   */
  unlocatedVersions(repository: Repository, tip: string, since: Instant, limit: number): Promise<string[]>
  /** Which of these commits changed a prompt. */
  changedPrompts(repository: Repository, commits: string[]): Promise<Set<string>>
  /** Rejects, changing nothing, if the lease was lost. */
  recordPlaces(lease: Lease, places: FoundPlace[], tip: string, at: Instant): Promise<void>
}
