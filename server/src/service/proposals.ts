import type { Logger } from 'pino'
import type { Attempt } from '../domain/alerts/channel.ts'
import { isReportedOnPull, proposesItself, type ReportOnPull } from '../domain/alerts/pull-comment.ts'
import { ProposalError, type Propose } from '../domain/proposals/proposal.ts'
import type { Store } from '../domain/store.ts'

const maxProposals = 5
const asked = { mode: 'revert', files: 'prompt' } as const
const byItself = { by: undefined, name: null }

/**
 * Reports on a pull request, and proposes to take it back where the repository asks for that. A proposal that cannot be made, such as because later
 * changes touch the same lines, is left to people.
 */
export function withProposals(
  report: ReportOnPull,
  { store, propose, log }: { store: Store; propose: Propose; log: Logger },
): ReportOnPull {
  return async (message) => {
    const id = 'trial' in message ? null : message.repositoryId
    const repository = id === null ? null : await store.repositories.find(id)
    const isAsked =
      repository !== null && repository.organisationId === message.organisation.id && proposesItself(repository)
    if (!isAsked || message.event !== 'regression.opened' || 'trial' in message) return report(message)
    const failures: string[] = []
    for (const { prompt: told, regressionId, state } of message.prompts.slice(0, maxProposals)) {
      const prompt = state === 'open' ? await store.prompts.find(repository.organisationId, told.publicId) : null
      if (prompt === null) continue
      const error = await propose(prompt, regressionId, asked, byItself).then(
        () => null,
        (thrown: Error) => thrown,
      )
      if (error === null) continue
      log.warn({ regression: regressionId, reason: error.message.slice(0, 500) }, 'could not propose a revert')
      const isLater = !(error instanceof ProposalError) || error.problem === 'busy' || error.problem === 'failed'
      if (isLater) failures.push(error.message)
    }
    const reported = isReportedOnPull(repository) ? await report(message) : done
    const [failure] = failures
    return failure === undefined ? reported : { outcome: 'retry', status: null, response: null, error: failure }
  }
}

const done: Attempt = { outcome: 'sent', status: null, response: null, error: null }
