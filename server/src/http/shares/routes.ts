import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type NewShareBody,
  openedShareSchema,
  operations,
  type ShareBody,
  unknownRegression,
} from '../../../../contract/shares.ts'
import { readerRoles } from '../../domain/access/api-key.ts'
import { createShare, type Share } from '../../domain/access/share.ts'
import { invalid } from '../../domain/errors.ts'
import { isoTime, parseTime, timeOrNull } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { listedPrompts } from '../visible-prompts.ts'

/** Links to one prompt for people without a key. */
export function shareRoutes(app: FastifyInstance, { store, publicUrl, clock }: Context): void {
  async function list(request: FastifyRequest, reply: FastifyReply) {
    const page = requestedPage(request.query)
    const promptIds = await listedPrompts(store.prompts, request)
    const { shares, totalCount } = await store.shares.page(request.access.organisationId, promptIds, page)
    return sendPage(reply, shares.map(toShareBody), page, totalCount)
  }

  route(app, operations.listShares, list)
  route(app, operations.listPromptShares, list)

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
    const id = idParameter(params, 'share_id')
    if ((await store.shares.revoke(prompt, id, clock(), access)) === null) throw notFound()
    return reply.status(204).send()
  })

  // For the page that a link opens, so not in the documentation.
  const config = { roles: readerRoles, shared: { when: 'always', schema: openedShareSchema } } as const
  app.get('/shared', { config }, ({ access }) => {
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
    revoked_at: timeOrNull(revokedAt),
  }
}
