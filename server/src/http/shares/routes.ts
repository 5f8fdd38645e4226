import type { FastifyInstance } from 'fastify'
import { type NewShareBody, operations, type ShareBody, unknownRegression } from '../../../../contract/shares.ts'
import { readerRoles } from '../../domain/access/api-key.ts'
import { createShare, type Share } from '../../domain/access/share.ts'
import { invalid } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { visiblePrompts } from '../visible-prompts.ts'

/** Links to one prompt for people without a key. */
export function shareRoutes(app: FastifyInstance, { store, publicUrl, clock }: Context): void {
  async function pageOf(query: unknown, organisationId: number, promptIds: number[] | null): Promise<string> {
    const request = requestedPage(query)
    const { shares, totalCount } = await store.shares.page(organisationId, promptIds, request)
    return renderPage(shares.map(toShareBody), request, totalCount)
  }

  route(app, operations.listShares, async ({ access, query }, reply) => {
    const page = await pageOf(query, access.organisationId, await visiblePrompts(store.prompts, access))
    return reply.type('application/json; charset=utf-8').send(page)
  })

  route(app, operations.listPromptShares, async ({ prompt, query }, reply) => {
    const page = await pageOf(query, prompt.organisationId, [prompt.id])
    return reply.type('application/json; charset=utf-8').send(page)
  })

  route(app, operations.createShare, async ({ prompt, access, body }, reply) => {
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
  })

  route(app, operations.revokeShare, async ({ prompt, access, params }, reply) => {
    const id = idParameter((params as { share_id: string }).share_id)
    if ((await store.shares.revoke(prompt, id, clock(), access)) === null) throw notFound()
    return reply.status(204).send()
  })

  // For the page that a link opens, so not in the documentation.
  app.get('/shared', { config: { roles: readerRoles, shared: 'always' } }, ({ access }) => {
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
