import type { FastifyInstance } from 'fastify'
import {
  alreadyClosed,
  type DismissalBody,
  operations,
  type RegressionBody,
  regressionSortValues,
} from '../../../../contract/regressions.ts'
import type { Access } from '../../domain/access/api-key.ts'
import { DomainError } from '../../domain/errors.ts'
import { type RegressionOrder, regressionStates, validNote } from '../../domain/regressions/regression.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, idParameter, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import { toRegressionBody, toRegressionDetailsBody } from './body.ts'

/** Changes that made prompts worse: list and dismiss them. */
export function regressionRoutes({ store, clock }: Context) {
  async function pageOf(
    query: unknown,
    { organisationId, shared }: Access,
    promptIds: number[] | null,
  ): Promise<string> {
    const request = requestedPage(query)
    const state = enumParameter(query as Query, 'state', regressionStates)
    const { regressions, totalCount } = await store.regressions.page(
      organisationId,
      { state, promptIds },
      parseOrder(query as Query),
      request,
    )
    const bodies = regressions.map(toRegressionBody)
    return renderPage(shared === undefined ? bodies : bodies.map(withoutNote), request, totalCount)
  }

  return async (app: FastifyInstance) => {
    route(app, operations.listRegressions, async ({ access, query }, reply) => {
      const page = await pageOf(query, access, await visiblePrompts(store.prompts, access))
      return reply.type('application/json; charset=utf-8').send(page)
    })

    route(app, operations.listPromptRegressions, async ({ prompt, access, query }, reply) => {
      const page = await pageOf(query, access, [prompt.id])
      return reply.type('application/json; charset=utf-8').send(page)
    })

    route(app, operations.getRegression, async ({ prompt, access, params }) => {
      const id = regressionId(params)
      const regression = await store.regressions.find(prompt, id)
      if (regression === null) throw notFound()
      const deliveries = await store.alertDeliveries.ofRegression(prompt.organisationId, id)
      const data = toRegressionDetailsBody(regression, deliveries, clock())
      return { data: access.shared === undefined ? data : { ...withoutNote(data), told: [] } }
    })

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
      {
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async ({ prompt, params }) => {
          const id = regressionId(params)
          if (!(await store.regressions.ofPrompt(prompt)).some((regression) => regression.id === id)) throw notFound()
        },
      },
    )
  }
}

/** For a share link: what was said about it is for the organisation. */
function withoutNote<Body extends RegressionBody>(body: Body): Body {
  return { ...body, dismissed_by: null, note: null }
}

function parseOrder(query: Query): RegressionOrder {
  const value = enumParameter(query, 'sort', regressionSortValues) ?? '-opened_at'
  const descending = value.startsWith('-')
  return { by: (descending ? value.slice(1) : value) as RegressionOrder['by'], descending }
}

function regressionId(params: unknown): number {
  return idParameter((params as { regression_id: string }).regression_id)
}
