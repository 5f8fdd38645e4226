import { hash } from 'node:crypto'
import type { ForgeResult } from '../alerts/forge-client.ts'
import { line } from '../alerts/line.ts'
import { type ForgeContext, type OpenForge, openForge } from '../alerts/open-forge.ts'
import { DomainError } from '../domain/errors.ts'
import type { EntryDetails } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import {
  alreadyOver,
  type ClaimedProposal,
  type Proposal,
  ProposalError,
  type ProposalRequest,
  type Propose,
  type Proposer,
} from '../domain/proposals/proposal.ts'
import type { ListedRegression } from '../domain/regressions/regression.ts'
import { tokenScopes } from '../domain/repositories/report-token.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { RepositoryService, UndoResult } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, day, minute } from '../domain/time.ts'
import type { KnownPull } from '../forges/forge-api.ts'
import { forgeOf } from '../forges/index.ts'
import { commitMessage, type Evidence, proposalText, proposalTitle } from './description.ts'

/** The dependencies of proposals. */
export interface ProposalContext extends ForgeContext {
  store: Pick<
    Store,
    'proposals' | 'regressions' | 'history' | 'repositories' | 'trials' | 'signals' | 'alertDeliveries'
  >
  repositories: Pick<RepositoryService, 'pushUndo' | 'undoCommands'>
  clock: Clock
  publicUrl: () => string
  log: { warn(details: object, message: string): void }
}

// Longer than an attempt takes: git stops after 40 s. If it is exceeded, the next attempt finds the branch or the pull request.
const claimMs = minute
const maxComments = 3
const maxPeople = 5
const shownDays = 30

/** What a proposal is about. */
interface Case {
  prompt: Prompt
  regression: ListedRegression
  entry: EntryDetails
  repository: Repository
}

/**
 * Opens a pull request that takes a change back: claims the proposal in the database, pushes its branch with git, and opens the pull request
 * with the API of the forge. Each step first looks for what an earlier attempt left behind, so that a process that was killed anywhere is
 * resumed by the next attempt, and there is never a second pull request.
 */
export function createPropose(context: ProposalContext): Propose {
  return async (prompt, regressionId, request, proposer) => {
    const regression = await openRegressionOf(context, prompt, regressionId)
    const last = await context.store.proposals.ofRegression(prompt, regressionId)
    const about = await caseOf(context, prompt, regression)
    const forge = about === null ? null : openForgeOf(context, about.repository)
    // Without access to the forge, what was known last counts.
    if (last?.state === 'open' && (forge === null || 'error' in forge)) return { proposal: last, isNew: false }
    if (about === null || forge === null) throw notFromRepository()
    await checkTrial(context, about)
    if ('error' in forge) throw await withoutToken(context, about, request, forge.error)
    const open = last === null ? null : await stillOpen(context, forge, last)
    if (open !== null) return { proposal: open, isNew: false }
    const claimed = await claim(context, about, request, proposer, last)
    try {
      const pull = await openPull(context, forge, about, claimed)
      const proposal = await context.store.proposals.opened(claimed, pull, context.clock(), proposer.by)
      return { proposal, isNew: true }
    } catch (error) {
      const isFirstAttempt = claimed.claimedUntil - claimMs === claimed.createdAt
      // Nothing was pushed, so another request may choose another way. Otherwise it is resumed.
      if (isFirstAttempt && error instanceof ProposalError && isUnpushed(error)) {
        await context.store.proposals.end(claimed, 'closed')
      } else {
        await context.store.proposals.release(claimed)
      }
      throw error
    }
  }
}

function isUnpushed({ problem }: ProposalError): boolean {
  return ['overlap', 'undone', 'too_large', 'denied'].includes(problem)
}

async function openRegressionOf({ store }: ProposalContext, prompt: Prompt, id: number): Promise<ListedRegression> {
  const regression = await store.regressions.find(prompt, id)
  if (regression === null) throw new DomainError('not_found', 'There is no such regression.')
  if (regression.state !== 'open') throw alreadyOver(regression.state)
  return regression
}

/** Null unless the change comes from a connected repository. */
async function caseOf({ store }: ProposalContext, prompt: Prompt, regression: ListedRegression): Promise<Case | null> {
  const entry = await store.history.find(prompt, regression.entryId)
  const id = entry?.repositoryId ?? null
  const repository = id === null ? null : await store.repositories.find(id)
  if (entry === null || repository === null || repository.disconnectedAt !== null) return null
  return repository.defaultBranch === null ? null : { prompt, regression, entry, repository }
}

function notFromRepository(): ProposalError {
  const message = 'The change does not come from a connected repository, so take it back where it was made.'
  return new ProposalError('no_repository', message)
}

/** While some users get the change in a trial, everyone else does not: ending it takes the change back at once. */
async function checkTrial({ store }: ProposalContext, { prompt, entry }: Case): Promise<void> {
  const trials = await store.trials.ofChanges(prompt, [entry])
  const trial = trials.find(({ state }) => state !== 'ended')
  if (trial === undefined) return
  const message = `Trial ${trial.id} serves this change. End it to take the change back: promptledger trial ${trial.id} --end`
  throw new ProposalError('trial', message, { trialId: trial.id })
}

function openForgeOf(context: ProposalContext, repository: Repository): OpenForge | { error: string } {
  return openForge(context, repository, { needs: 'A proposal needs', scopes: tokenScopes.proposals[repository.forge] })
}

async function withoutToken(
  context: ProposalContext,
  about: Case,
  request: ProposalRequest,
  error: string,
): Promise<ProposalError> {
  const commands = await commandsFor(context, about, request, branchOf(about.repository, about.regression.id, null))
  return new ProposalError('no_token', `${error} Or take the change back by hand.`, { commands })
}

function commandsFor(
  { repositories }: ProposalContext,
  { prompt, entry }: Case,
  { files }: ProposalRequest,
  branch: string,
): Promise<string[]> {
  const promptPath = prompt.path ?? entry.path
  return promptPath === null
    ? Promise.resolve([])
    : repositories.undoCommands({ entry, promptPath, files, branch }).catch(() => [])
}

/** The same for every attempt at one proposal, so that a later attempt finds what an earlier one left on the forge. */
function branchOf({ hookId }: Repository, regressionId: number, last: Proposal | null): string {
  const suffix = hash('sha256', `${hookId} ${regressionId} ${last?.id ?? 0}`).slice(0, 6)
  return `promptledger/revert-${regressionId}-${suffix}`
}

/** The proposal, if its pull request is open. One that was merged or closed is stored as such. */
async function stillOpen(
  { store }: ProposalContext,
  { api, client, root }: OpenForge,
  proposal: Proposal,
): Promise<Proposal | null> {
  const { prNumber, state } = proposal
  if (prNumber === null || state !== 'open') return null
  const found = await client.send(api.getPull(root, prNumber), 'read the pull request')
  const [pull] = found.kind === 'done' ? api.readPulls(found.value) : []
  if (pull === undefined || pull.state === 'open') return proposal
  await store.proposals.end(proposal, pull.state)
  if (pull.state === 'closed') return null
  const message = `Pull request ${prNumber} takes the change back and is merged. The regression is repaired once that is live.`
  throw new ProposalError('undone', message)
}

async function claim(
  { store, clock }: ProposalContext,
  { prompt, regression, repository }: Case,
  { mode, files }: ProposalRequest,
  { by, name }: Proposer,
  last: Proposal | null,
): Promise<ClaimedProposal> {
  const now = clock()
  const isPending = last?.state === 'pending'
  const branch = branchOf(repository, regression.id, isPending ? null : last)
  const claimed = await store.proposals.claim(
    {
      organisationId: prompt.organisationId,
      promptId: prompt.id,
      regressionId: regression.id,
      repositoryId: repository.id,
      mode,
      files,
      branch,
      proposedBy: name,
      createdAt: now,
    },
    by,
    now + claimMs,
  )
  if (claimed === null) throw new ProposalError('busy', 'Another request is proposing this. Try again in a minute.')
  return claimed
}

/** The pull request that is open for the branch; opened if there is none. */
async function openPull(
  context: ProposalContext,
  forge: OpenForge,
  about: Case,
  proposal: ClaimedProposal,
): Promise<KnownPull> {
  const { repository } = about
  const found = await findPull(forge, proposal.branch)
  if (found.kind === 'failed') throw failed(found)
  if (found.value !== null) return found.value
  const evidence = await evidenceOf(context, forge, about)
  await push(context, about, evidence, proposal)
  const { api, client, root } = forge
  const title = proposalTitle(evidence, proposal)
  const text = proposalText(evidence, proposal, context.publicUrl(), api.maxCommentLength)
  const pull = { title, text, branch: proposal.branch, base: repository.defaultBranch as string }
  const created = await client.send(api.createPull(root, pull), 'open a pull request')
  const opened = created.kind === 'done' ? api.readPulls(created.value)[0] : undefined
  // Forges reject a second one for the same branch, which another process may have opened meanwhile.
  const again = opened === undefined ? await findPull(forge, proposal.branch) : null
  const known = opened ?? (again?.kind === 'done' ? again.value : null)
  if (known === null) {
    const next = `The branch ${proposal.branch} is pushed. Try again, or open the pull request by hand.`
    if (created.kind === 'failed') throw failed(created, next)
    throw new ProposalError('failed', `${forgeOf(repository.forge).title} did not say what it opened. ${next}`)
  }
  await askPeople(context, forge, about, { number: known.number, title })
  return known
}

async function findPull({ api, client, root }: OpenForge, branch: string): Promise<ForgeResult<KnownPull | null>> {
  const listed = await client.send(api.listPulls(root, branch), 'list its pull requests')
  if (listed.kind === 'failed') return listed
  const pull = api.readPulls(listed.value).find((each) => each.branch === branch && each.state === 'open')
  return { ...listed, value: pull ?? null }
}

function failed({ error, isFinal, status }: Extract<ForgeResult<never>, { kind: 'failed' }>, more = ''): ProposalError {
  const isDenied = isFinal && (status === 401 || status === 403 || status === 404)
  // With a branch that is pushed, the proposal is resumed.
  const problem = isDenied && more === '' ? 'denied' : 'failed'
  return new ProposalError(problem, more === '' ? error : `${error} ${more}`)
}

async function push(
  context: ProposalContext,
  about: Case,
  evidence: Evidence,
  proposal: ClaimedProposal,
): Promise<void> {
  const { prompt, entry } = about
  const { branch, mode, files, createdAt } = proposal
  const result = await context.repositories.pushUndo({
    entry,
    promptPath: prompt.path ?? (entry.path as string),
    mode,
    files,
    branch,
    message: commitMessage(evidence, proposal),
    person: { name: 'Promptledger', email: `promptledger@${URL.parse(context.publicUrl())?.hostname || 'localhost'}` },
    at: createdAt,
  })
  if (result.kind === 'pushed' || result.kind === 'exists') return
  throw await pushProblem(context, about, proposal, result)
}

async function pushProblem(
  context: ProposalContext,
  about: Case,
  proposal: ClaimedProposal,
  result: Exclude<UndoResult, { kind: 'pushed' } | { kind: 'exists' }>,
): Promise<ProposalError> {
  const { forge } = about.repository
  const commands = () => commandsFor(context, about, proposal, proposal.branch)
  const scopes = tokenScopes.proposals[forge]
  switch (result.kind) {
    case 'overlap': {
      const paths = result.paths.slice(0, 5).map((path) => line(path, 200))
      const more = result.paths.length > paths.length ? ` and ${result.paths.length - paths.length} more files` : ''
      const message =
        `Later changes touch the same lines of ${paths.join(', ')}${more}, so the change cannot be taken back by itself. ` +
        'Propose the text of the last good version instead: mode restore. Later changes of these files are lost with it.'
      return new ProposalError('overlap', message)
    }
    case 'undone':
      return new ProposalError('undone', 'The default branch does not have the change any more.')
    case 'too_large': {
      const message = 'The change has too many files to be taken back as a whole. Propose only the file of the prompt.'
      return new ProposalError('too_large', message)
    }
    case 'denied': {
      const message = `${forgeOf(forge).title} does not accept the branch. The token needs ${scopes}.`
      return new ProposalError('denied', message, { commands: await commands() })
    }
    // Gitea says the same about a token that may only read.
    case 'protected': {
      const message =
        `${forgeOf(forge).title} rejected the branch ${proposal.branch}. The token needs ${scopes}, and rules for branches have to allow ` +
        'promptledger/*.'
      return new ProposalError('denied', message, { commands: await commands() })
    }
    case 'failed':
      return new ProposalError('failed', `The branch could not be pushed: ${result.reason}.`)
  }
}

async function evidenceOf(
  { store, clock }: ProposalContext,
  { api, client, root }: OpenForge,
  { prompt, regression, entry }: Case,
): Promise<Evidence> {
  const now = clock()
  const since = regression.liveFrom ?? entry.createdAt
  const span = { from: Math.max(since - (shownDays / 2) * day, now - 365 * day), until: now }
  const [tallies, comments, described] = await Promise.all([
    store.signals.tallyByInterval(prompt, span, 'day'),
    store.alertDeliveries.negativeComments(prompt.organisationId, prompt.publicId, since, maxComments),
    client.send(api.getRepository(root), 'read the repository'),
  ])
  // What users wrote is shown only to people who can see the repository.
  const isPrivate = described.kind === 'done' && api.readVisibility(described.value) === 'private'
  return { prompt, regression, entry, days: tallies, comments: isPrivate ? comments : 'public' }
}

/** Asks the author and the reviewers of the change. The pull request is open without them, too. */
async function askPeople(
  { log }: ProposalContext,
  { api, client, root }: OpenForge,
  { entry }: Case,
  pull: { number: number; title: string },
): Promise<void> {
  if (entry.prNumber === null) return
  const people = new Set<string>()
  for (const request of api.listPeople(root, entry.prNumber)) {
    const found = await client.send(request, 'read who reviewed the pull request')
    if (found.kind === 'done') for (const person of api.readPeople(found.value)) people.add(person)
  }
  if (people.size === 0) return
  for (const request of api.askReviewers(root, pull, [...people].slice(0, maxPeople))) {
    const asked = await client.send(request, 'ask for a review')
    // Such as the user of the token, who opened it.
    if (asked.kind === 'failed')
      log.warn({ reason: line(asked.error, 300) }, 'could not ask for a review of a proposal')
  }
}
