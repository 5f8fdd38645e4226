import type { FastifyInstance } from 'fastify'
import { type Access, readerRoles } from '../../domain/access/api-key.ts'
import { DomainError } from '../../domain/errors.ts'
import { type RegressionOrder, regressionStates, validNote } from '../../domain/regressions/regression.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, idParameter, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import { toRegressionBody, toRegressionDetailsBody } from './body.ts'
import {
  type DismissalBody,
  dismissalSchema,
  oneRegressionSchema,
  type RegressionBody,
  regressionDetailsSchema,
  regressionPageSchema,
  regressionParamsSchema,
  regressionQuerySchema,
  regressionSortValues,
} from './schema.ts'

const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const invalidState = errorSchema('validation_error', `state must be one of ${regressionStates.join(', ')}`)
const alreadyClosed = 'The regression is already repaired or withdrawn, so there is nothing to dismiss.'
const tags = ['Regressions']
const readers = { roles: readerRoles }

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
    app.get(
      '/regressions',
      {
        schema: {
          operationId: 'listRegressions',
          summary: 'List the regressions of all prompts',
          description:
            'A change whose verdict is `worse` opens a regression. It stays open, whatever ships next, until the rate is back, ' +
            'the change is reverted, the verdict is taken back, or it is dismissed. The last opened comes first, unless `sort` says otherwise.',
          tags,
          querystring: regressionQuerySchema,
          response: { 200: regressionPageSchema, ...errors, 422: invalidState },
        },
        config: readers,
      },
      async ({ access, query }, reply) => {
        const page = await pageOf(query, access, await visiblePrompts(store.prompts, access))
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.get(
      '/prompts/:prompt_id/regressions',
      {
        schema: {
          operationId: 'listPromptRegressions',
          summary: 'List the regressions of a prompt',
          description: 'The last opened comes first.',
          tags,
          params: promptParamsSchema,
          querystring: regressionQuerySchema,
          response: { 200: regressionPageSchema, ...errors, 404: errorBodySchema, 422: invalidState },
        },
        config: { ...readers, shared: 'always' },
      },
      async ({ prompt, access, query }, reply) => {
        const page = await pageOf(query, access, [prompt.id])
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.get(
      '/prompts/:prompt_id/regressions/:regression_id',
      {
        schema: {
          operationId: 'getRegression',
          summary: 'Get a regression',
          description: 'With what alerts and the pull request were told about it.',
          tags,
          params: regressionParamsSchema,
          response: { 200: regressionDetailsSchema, ...errors, 404: errorBodySchema },
        },
        config: { ...readers, shared: 'always' },
      },
      async ({ prompt, access, params }) => {
        const id = regressionId(params)
        const regression = await store.regressions.find(prompt, id)
        if (regression === null) throw notFound()
        const deliveries = await store.alertDeliveries.ofRegression(prompt.organisationId, id)
        const data = toRegressionDetailsBody(regression, deliveries, clock())
        return { data: access.shared === undefined ? data : { ...withoutNote(data), told: [] } }
      },
    )

    app.post(
      '/prompts/:prompt_id/regressions/:regression_id/dismiss',
      {
        schema: {
          operationId: 'dismissRegression',
          summary: 'Dismiss a regression',
          description:
            'For a loss that you accept. The same change does not open a regression again. If it is dismissed already, the ' +
            'response is the regression as it is.',
          tags,
          params: regressionParamsSchema,
          body: dismissalSchema,
          response: {
            200: oneRegressionSchema,
            ...errors,
            404: errorBodySchema,
            409: errorSchema('conflict', alreadyClosed),
            422: errorSchema('validation_error', 'note is required'),
          },
        },
        config: { roles: ['standard', 'admin'] },
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async ({ prompt, params }) => {
          const id = regressionId(params)
          if (!(await store.regressions.ofPrompt(prompt)).some((regression) => regression.id === id)) throw notFound()
        },
      },
      async ({ prompt, access, params, body }) => {
        const id = regressionId(params)
        const note = validNote((body as DismissalBody).note)
        const dismissal = await store.regressions.dismiss(prompt, id, note, clock(), access)
        if (dismissal.kind === 'unknown') throw notFound()
        if (dismissal.kind === 'closed') throw new DomainError('conflict', alreadyClosed)
        return { data: toRegressionBody(dismissal.regression) }
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
