import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { DomainError, invalidField } from '../errors.ts'
import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

/** `revert` keeps later changes of the files, as `git revert` does. `restore` brings back the text of the last good version. */
export const proposalModes = ['revert', 'restore'] as const

export type ProposalMode = (typeof proposalModes)[number]

/** Which files of the change are taken back: that of the prompt, or all of them. */
export const proposalFiles = ['prompt', 'change'] as const

export type ProposalFiles = (typeof proposalFiles)[number]

/** `pending` until the pull request is open: a proposal that was interrupted is resumed. */
export const proposalStates = ['pending', 'open', 'merged', 'closed'] as const

export type ProposalState = (typeof proposalStates)[number]

/** A pull request that takes back a change that made a prompt worse. People merge it, or not. */
export interface Proposal {
  id: number
  organisationId: number
  promptId: number
  regressionId: number
  repositoryId: number
  mode: ProposalMode
  files: ProposalFiles
  branch: string
  state: ProposalState
  prNumber: number | null
  prUrl: string | null
  /** The name of the key; null if the service proposed it by itself. */
  proposedBy: string | null
  createdAt: Instant
}

type NewProposal = Omit<Proposal, 'id' | 'state' | 'prNumber' | 'prUrl'>

export interface ClaimedProposal extends Proposal {
  claimedUntil: Instant
}

export interface ProposalStore {
  /** The newest one about a regression. */
  ofRegression(prompt: Pick<Prompt, 'id' | 'organisationId'>, regressionId: number): Promise<Proposal | null>
  /**
   * Claims the proposal about a regression that is pending or open, or creates one: there is never more than one. Null if another process is
   * at work on it.
   */
  claim(proposal: NewProposal, by: Actor | undefined, until: Instant): Promise<ClaimedProposal | null>
  /** Ends the claim, and stores the pull request, with an entry in the audit log. */
  opened(
    proposal: ClaimedProposal,
    pull: { number: number; url: string },
    at: Instant,
    by: Actor | undefined,
  ): Promise<Proposal>
  /** Ends the claim of a proposal that stays as it is, to be resumed. */
  release(proposal: ClaimedProposal): Promise<void>
  /** Nothing of it is left, or its pull request is merged or closed: another one can be made. */
  end(proposal: Proposal, state: 'merged' | 'closed'): Promise<void>
  /** The pull requests that take back the change of this history entry. */
  pullsOf(prompt: Prompt, entryId: number): Promise<{ repositoryId: number; prNumber: number }[]>
}

/** What else to do about a regression for which no revert can be proposed. */
type ProposalProblem =
  | 'over'
  | 'no_repository'
  | 'no_token'
  | 'trial'
  | 'overlap'
  | 'undone'
  | 'too_large'
  | 'denied'
  | 'busy'
  | 'failed'

/** Why no pull request was opened. */
export class ProposalError extends DomainError {
  readonly problem: ProposalProblem
  /** To do it by hand. Empty if there is nothing to do, or another way. */
  readonly commands: string[]
  readonly trialId: string | null

  constructor(
    problem: ProposalProblem,
    message: string,
    { commands = [], trialId = null }: { commands?: string[]; trialId?: string | null } = {},
  ) {
    super('conflict', message)
    this.problem = problem
    this.commands = commands
    this.trialId = trialId
  }
}

export function alreadyOver(state: string): ProposalError {
  return new ProposalError('over', `The regression is already ${state}, so there is nothing to take back.`)
}

export interface ProposalRequest {
  mode: ProposalMode
  files: ProposalFiles
}

/** The other files of a change may be those of prompts that do not exist for a limited key. */
export function checkFiles({ files }: Pick<ProposalRequest, 'files'>, { prompts }: Pick<Access, 'prompts'>): void {
  if (files === 'change' && prompts !== null)
    throw invalidField('files', 'must be "prompt", because this key is limited to prompts')
}

/** Who asks for it: a key, or the service itself. */
export interface Proposer {
  by: Actor | undefined
  name: string | null
}

/** Opens the pull request, or finds the one that is open. Throws `ProposalError`. */
export type Propose = (
  prompt: Prompt,
  regressionId: number,
  request: ProposalRequest,
  proposer: Proposer,
) => Promise<{ proposal: Proposal; isNew: boolean }>
