import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
import type { Proposal } from '../../domain/proposals/proposal.ts'
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
import { readTriage, withoutNote } from '../triage-body.ts'
import { listedPrompts } from '../visible-prompts.ts'
import { toRegressionBody, toRegressionDetailsBody } from './body.ts'

/** Changes that made prompts worse: list and dismiss them. */
export function regressionRoutes(app: FastifyInstance, { store, clock }: Context): void {
  async function existing(prompt: Prompt, params: unknown): Promise<ListedRegression> {
    const regression = await store.regressions.find(prompt, regressionId(params))
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
    const bodies = regressions.map(toRegressionBody)
    return sendPage(reply, shared === undefined ? bodies : bodies.map(withoutNote), page, totalCount)
  }

  route(app, operations.listRegressions, list)
  route(app, operations.listPromptRegressions, list)

  route(app, operations.getRegression, async ({ prompt, access, params }) => {
    const regression = await existing(prompt, params)
    const { id } = regression
    const [deliveries, proposal, steps] = await Promise.all([
      store.alertDeliveries.ofRegression(prompt.organisationId, id),
      currentProposal(store, prompt, id),
      store.regressions.steps(prompt.organisationId, id),
    ])
    const data = toRegressionDetailsBody(regression, deliveries, proposal, steps, clock())
    return {
      data: access.shared === undefined ? data : { ...withoutNote(data), proposal: null, steps: [], told: [] },
    }
  })

  route(
    app,
    operations.updateRegression,
    async ({ prompt, access, params, body }) => {
      const now = clock()
      const triage = readTriage(body as TriageBody, now)
      const regression = await store.regressions.triage(prompt, regressionId(params), triage, now, access)
      if (regression === null) throw notFound()
      if (regression === 'closed') throw new DomainError('conflict', notOpen)
      return { data: toRegressionBody(regression) }
    },
    beforeBody(({ prompt, params }) => existing(prompt, params)),
  )

  route(
    app,
    operations.dismissRegression,
    async ({ prompt, access, params, body }) => {
      const id = regressionId(params)
      const note = validNote((body as DismissalBody).note)
      const dismissal = await store.regressions.dismiss(prompt, id, note, clock(), access)
      if (dismissal.kind === 'unknown') throw notFound()
      if (dismissal.kind === 'closed') throw new DomainError('conflict', alreadyClosed)
      return { data: toRegressionBody(dismissal.regression) }
    },
    beforeBody(({ prompt, params }) => existing(prompt, params)),
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

function regressionId(params: unknown): number {
  return idParameter((params as { regression_id: string }).regression_id)
}
