import type { FastifyInstance } from 'fastify'
import {
  type ChosenTextBody,
  maxUnitLength,
  type NewDeliverySettingsBody,
  operations,
} from '../../../../contract/delivery.ts'
import { deliveryIsOff, isDelivered, validUndelivered } from '../../domain/delivery/settings.ts'
import { invalidField } from '../../domain/errors.ts'
import { validGlob } from '../../domain/glob.ts'
import { isLongerThan } from '../../domain/text.ts'
import { armOf } from '../../domain/trials/assignment.ts'
import { acceptedEncoding } from '../console/accepted-encoding.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { createDeliveryDocuments } from './documents.ts'
import { createExposureCounter } from './exposures.ts'

/** Texts of prompts for applications. */
export function deliveryRoutes({ store, clock, log }: Context) {
  const documents = createDeliveryDocuments(store)
  const exposures = createExposureCounter(store.trials, log)

  return async (app: FastifyInstance) => {
    app.addHook('onClose', exposures.flush)
    route(app, operations.getDelivery, async ({ access, query, headers }, reply) => {
      const glob = lastValue((query as Query).prompts)
      const document = await documents.get(access, glob === undefined ? null : validGlob('prompts', glob))
      const { etag } = document
      reply.headers({ etag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' })
      if (headers['if-none-match'] === etag) return reply.status(304).send()
      const encoding = acceptedEncoding(headers['accept-encoding'])
      if (encoding !== null) reply.header('content-encoding', encoding)
      return reply.type('application/json; charset=utf-8').send(await document.bytes(encoding))
    })

    route(app, operations.getPromptText, async ({ prompt, query }, reply): Promise<{ data: ChosenTextBody }> => {
      const unit = unitIn(query as Query)
      const settings = await store.liveTexts.settings(prompt.organisationId)
      if (!settings.enabled) throw deliveryIsOff()
      const [live] = await store.liveTexts.texts(prompt.organisationId, [prompt.id])
      if (live === undefined || !isDelivered(settings, prompt)) throw notFound()
      reply.header('cache-control', 'no-store')
      const { publicId: id, name, organisationId } = prompt
      const served = unit === null ? [] : await store.trials.served(organisationId)
      const trial = served.find(({ promptId }) => promptId === prompt.id)
      if (unit === null || trial === undefined) {
        return { data: { id, name, version: live.commitSha, text: live.text, trial: null } }
      }
      const arm = armOf(trial.id, unit, trial.share)
      exposures.count(organisationId, trial, unit, arm)
      const isCandidate = arm === 'candidate'
      const texts = isCandidate ? await store.trials.texts(organisationId, [trial.id]) : []
      const candidate = texts.find(({ promptId }) => promptId === prompt.id)?.text ?? live.text
      const chosen = isCandidate
        ? { version: trial.commitSha, text: candidate }
        : { version: live.commitSha, text: live.text }
      return { data: { id, name, ...chosen, trial: { id: trial.id, arm } } }
    })

    route(app, operations.getDeliverySettings, async ({ access }) => ({
      data: await store.liveTexts.settings(access.organisationId),
    }))

    route(app, operations.updateDeliverySettings, async ({ access, body }) => {
      const { enabled, excluded } = body as NewDeliverySettingsBody
      const update = {
        ...(enabled !== undefined && { enabled }),
        ...(excluded !== undefined && { excluded: validUndelivered(excluded) }),
      }
      return { data: await store.liveTexts.updateSettings(access.organisationId, update, clock(), access) }
    })
  }
}

/** The unit that a text is for; null without one. */
function unitIn(query: Query): string | null {
  const unit = lastValue(query.unit)
  if (unit === undefined) return null
  if (unit === '' || isLongerThan(unit, maxUnitLength)) {
    throw invalidField('unit', `must be 1 to ${maxUnitLength} characters long`)
  }
  return unit
}
