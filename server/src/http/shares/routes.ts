import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { createShare, type Share, tooManyShares } from '../../domain/access/share.ts'
import { invalid } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { idParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import {
  type NewShareBody,
  newShareSchema,
  oneCreatedShareSchema,
  type ShareBody,
  sharePageSchema,
  shareParamsSchema,
} from './schema.ts'

const config = { roles: ['standard', 'admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const tags = ['Share links']
const unknownRegression = 'regression_id must be the ID of a regression of this prompt'

/** Links to one prompt for people without a key. */
export function shareRoutes({ store, publicUrl, clock }: Context) {
  async function pageOf(query: unknown, organisationId: number, promptIds: number[] | null): Promise<string> {
    const request = requestedPage(query)
    const { shares, totalCount } = await store.shares.page(organisationId, promptIds, request)
    return renderPage(shares.map(toShareBody), request, totalCount)
  }

  return async (app: FastifyInstance) => {
    app.get(
      '/shares',
      {
        schema: {
          operationId: 'listShares',
          summary: 'List the share links of all prompts',
          description: 'Newest first, with revoked ones and those that expired in the last 90 days.',
          tags,
          querystring: pageQuerySchema,
          response: { 200: sharePageSchema, ...errors },
        },
        config,
      },
      async ({ access, query }, reply) => {
        const page = await pageOf(query, access.organisationId, await visiblePrompts(store.prompts, access))
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.get(
      '/prompts/:prompt_id/shares',
      {
        schema: {
          operationId: 'listPromptShares',
          summary: 'List the share links of a prompt',
          description: 'Newest first, with revoked ones and those that expired in the last 90 days.',
          tags,
          params: promptParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: sharePageSchema, ...errors, 404: errorBodySchema },
        },
        config,
      },
      async ({ prompt, query }, reply) => {
        const page = await pageOf(query, prompt.organisationId, [prompt.id])
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.post(
      '/prompts/:prompt_id/shares',
      {
        schema: {
          operationId: 'createShare',
          summary: 'Create a share link',
          description:
            'A link that shows this prompt to people without a key: the chart, the changes with their text and their verdicts, and ' +
            'nothing else. Signals, with comments and metadata, only with `includes_signals`. The response contains the link, which is ' +
            'shown only once. It ends when it expires, when it is revoked, or with the key that created it.',
          tags,
          params: promptParamsSchema,
          body: newShareSchema,
          response: {
            201: oneCreatedShareSchema,
            ...errors,
            404: errorBodySchema,
            409: errorSchema('conflict', tooManyShares().message),
            422: errorSchema('validation_error', unknownRegression),
          },
        },
        config,
      },
      async ({ prompt, access, body }, reply) => {
        const { regression_id: regressionId = null, includes_signals = false, expires_at } = body as NewShareBody
        if (regressionId !== null && (await store.regressions.find(prompt, regressionId)) === null) {
          throw invalid(unknownRegression)
        }
        const expiresAt = expires_at == null ? null : parseTime('expiresAt', expires_at)
        const details = { prompt, regressionId, includesSignals: includes_signals, expiresAt }
        const { share, token } = await createShare(store.shares, details, clock(), access)
        // In the fragment, which browsers send to no server: it is in no log and no Referer header.
        const url = `${publicUrl()}/shared#${token}`
        return reply
          .status(201)
          .header('Cache-Control', 'no-store')
          .send({ data: { ...toShareBody(share), url } })
      },
    )

    app.delete(
      '/prompts/:prompt_id/shares/:share_id',
      {
        schema: {
          operationId: 'revokeShare',
          summary: 'Revoke a share link',
          description: 'The link shows nothing from now on.',
          tags,
          params: shareParamsSchema,
          response: {
            204: { type: 'null', description: 'The link is revoked' },
            ...errors,
            404: errorBodySchema,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async ({ prompt, access, params }, reply) => {
        const id = idParameter((params as { share_id: string }).share_id)
        if ((await store.shares.revoke(prompt, id, clock(), access)) === null) throw notFound()
        return reply.status(204).send()
      },
    )

    // For the page that a link opens, so not in the documentation.
    app.get('/shared', { schema: { hide: true }, config: { roles: readerRoles, shared: 'always' } }, ({ access }) => {
      const { shared, expiresAt } = access
      if (shared === undefined || expiresAt === null) throw notFound()
      return {
        data: {
          prompt: { id: shared.promptId, name: shared.promptName },
          regression_id: shared.regressionId,
          includes_signals: shared.includesSignals,
          expires_at: isoTime(expiresAt),
        },
      }
    })
  }
}

function toShareBody({ prompt, createdAt, expiresAt, revokedAt, ...share }: Share): ShareBody {
  return {
    id: share.id,
    prompt: { id: prompt.publicId, name: prompt.name },
    regression_id: share.regressionId,
    includes_signals: share.includesSignals,
    hint: share.hint,
    created_by: share.createdBy,
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
    revoked_at: revokedAt === null ? null : isoTime(revokedAt),
  }
}
