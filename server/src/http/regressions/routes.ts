import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { NewProposalBody } from '../../../../contract/proposals.ts'
import {
  alreadyClosed,
  type DismissalBody,
  notOpen,
  operations,
  regressionSortValues,
  type TriageBody,
} from '../../../../contract/regressions.ts'
import { DomainError } from '../../domain/errors.ts'
import { stateOf } from '../../domain/history/pull.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { checkFiles, type Proposal } from '../../domain/proposals/proposal.ts'
import {
  type ListedRegression,
  type RegressionOrder,
  regressionStates,
  validNote,
} from '../../domain/regressions/regression.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { enumParameter, idParameter, lastValue, type Query } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { readTriage } from '../triage-body.ts'
import { listedPrompts } from '../visible-prompts.ts'
import { toProposalBody, toRegressionBody, toRegressionDetailsBody } from './body.ts'

/** Changes that made prompts worse: list and dismiss them, or propose to take them back. */
export function regressionRoutes(app: FastifyInstance, { store, propose, clock }: Context): void {
  async function existing({ prompt, params }: FastifyRequest): Promise<ListedRegression> {
    const regression = await store.regressions.find(prompt, idParameter(params, 'regression_id'))
    if (regression === null) throw notFound()
    return regression
  }

  async function list(request: FastifyRequest, reply: FastifyReply) {
    const { organisationId, shared } = request.access
    const promptIds = await listedPrompts(store.prompts, request)
    const query = request.query as Query
    const page = requestedPage(query)
    const state = enumParameter(query, 'state', regressionStates)
    const { regressions, totalCount } = await store.regressions.page(
      organisationId,
      { state, promptIds, owner: shared === undefined ? (lastValue(query.owner) ?? null) : null },
      parseOrder(query),
      page,
    )
    return sendPage(reply, regressions.map(toRegressionBody), page, totalCount)
  }

  route(app, operations.listRegressions, list)
  route(app, operations.listPromptRegressions, list)

  route(app, operations.getRegression, async (request) => {
    const { prompt } = request
    const regression = await existing(request)
    const { id } = regression
    const [deliveries, proposal, steps] = await Promise.all([
      store.alertDeliveries.ofRegression(prompt.organisationId, id),
      currentProposal(store, prompt, id),
      store.regressions.steps(prompt.organisationId, id),
    ])
    return { data: toRegressionDetailsBody(regression, deliveries, proposal, steps, clock()) }
  })

  route(
    app,
    operations.updateRegression,
    async ({ prompt, access, params, body }) => {
      const now = clock()
      const triage = readTriage(body as TriageBody, now)
      const id = idParameter(params, 'regression_id')
      const regression = await store.regressions.triage(prompt, id, triage, now, access)
      if (regression === null) throw notFound()
      if (regression === 'closed') throw new DomainError('conflict', notOpen)
      return { data: toRegressionBody(regression) }
    },
    beforeBody(existing),
  )

  route(
    app,
    operations.dismissRegression,
    async ({ prompt, access, params, body }) => {
      const id = idParameter(params, 'regression_id')
      const note = validNote((body as DismissalBody).note)
      const dismissal = await store.regressions.dismiss(prompt, id, note, clock(), access)
      if (dismissal.kind === 'unknown') throw notFound()
      if (dismissal.kind === 'closed') throw new DomainError('conflict', alreadyClosed)
      return { data: toRegressionBody(dismissal.regression) }
    },
    beforeBody(existing),
  )

  route(
    app,
    operations.proposeRevert,
    async (request) => {
      const { prompt, access, body } = request
      const { mode = 'revert', files = 'prompt' } = (body as NewProposalBody) ?? {}
      checkFiles({ files }, access)
      const { id } = await existing(request)
      const key = await store.keys.find(access.keyId)
      const proposer = { by: access, name: key?.name ?? 'unknown' }
      const { proposal } = await propose(prompt, id, { mode, files }, proposer)
      return { data: toProposalBody(proposal) }
    },
    beforeBody(existing),
  )
}

/** The last proposal, with what deliveries said about its pull request since. */
async function currentProposal(
  { proposals, repositories, facts }: Context['store'],
  prompt: Prompt,
  regressionId: number,
): Promise<Proposal | null> {
  const proposal = await proposals.ofRegression(prompt, regressionId)
  if (proposal === null || proposal.prNumber === null || proposal.state !== 'open') return proposal
  const repository = await repositories.find(proposal.repositoryId)
  const [pull] = repository === null ? [] : await facts.pulls(repository, [proposal.prNumber])
  return pull === undefined ? proposal : { ...proposal, state: stateOf(pull) }
}

function parseOrder(query: Query): RegressionOrder {
  const value = enumParameter(query, 'sort', regressionSortValues) ?? '-opened_at'
  const descending = value.startsWith('-')
  return { by: (descending ? value.slice(1) : value) as RegressionOrder['by'], descending }
}
