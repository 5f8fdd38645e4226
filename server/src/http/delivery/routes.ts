import type { FastifyInstance } from 'fastify'
import {
  type ChosenTextBody,
  maxUnitLength,
  type NewDeliverySettingsBody,
  operations,
} from '../../../../contract/delivery.ts'
import { exposureRoles, isAllowed } from '../../domain/access/api-key.ts'
import { missingText } from '../../domain/delivery/missing-text.ts'
import { deliveryIsOff, isDelivered, isExcluded, validUndelivered } from '../../domain/delivery/settings.ts'
import { invalidField } from '../../domain/errors.ts'
import { validGlob } from '../../domain/glob.ts'
import { isLongerThan } from '../../domain/text.ts'
import { armOf } from '../../domain/trials/assignment.ts'
import { json, send } from '../answer.ts'
import { acceptedEncoding } from '../console/accepted-encoding.ts'
import type { Context } from '../context.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { createDeliveryDocuments, documentEncodings, documentHeaders, unchangedAnswer } from './documents.ts'
import { createExposureCounter } from './exposures.ts'

/** Texts of prompts for applications. */
export function deliveryRoutes(app: FastifyInstance, { store, clock, log }: Context): void {
  const documents = createDeliveryDocuments(store)
  const exposures = createExposureCounter(store.trials, log)

  app.addHook('onClose', exposures.flush)
  route(app, operations.getDelivery, async (request, reply) => {
    const { access, query, headers } = request
    const prompts = lastValue((query as Query).prompts)
    const glob = prompts === undefined ? null : validGlob('prompts', prompts)
    const current = await documents.etag(access, glob)
    if (headers['if-none-match'] === current) {
      app.shortPath?.rememberDocument(request.raw, access, current, request.cacheGeneration)
      return send(reply, unchangedAnswer(current))
    }
    await app.loadShedder.becomeHeavy(request)
    const encoding = acceptedEncoding(headers['accept-encoding'], documentEncodings)
    const { etag, bytes } = await documents.get(access, glob, encoding)
    if (encoding !== null) reply.header('content-encoding', encoding)
    return send(reply, { status: 200, headers: { ...documentHeaders(etag), ...json }, body: bytes })
  })

  route(app, operations.getPromptText, async ({ access, prompt, query }, reply): Promise<{ data: ChosenTextBody }> => {
    const unit = unitIn(query as Query)
    const settings = await store.liveTexts.settings(prompt.organisationId)
    if (!settings.enabled) throw deliveryIsOff()
    const [live] = await store.liveTexts.texts(prompt.organisationId, [prompt.id])
    if (!isDelivered(settings, prompt)) throw isExcluded()
    if (live === undefined || live.text === null) {
      throw await missingText(store, prompt, live !== undefined, clock())
    }
    const { commitSha, text } = live
    reply.header('cache-control', 'no-store')
    const { publicId: id, name, organisationId } = prompt
    const served = unit === null ? [] : await store.trials.served(organisationId)
    const trial = served.find(({ promptId }) => promptId === prompt.id)
    if (unit === null || trial === undefined) {
      return { data: { id, name, version: commitSha, text, trial: null } }
    }
    const arm = armOf(trial.id, unit, trial.share)
    const isCandidate = arm === 'candidate'
    const [candidate] = isCandidate ? await store.trials.texts(organisationId, [trial.id], [prompt.id]) : []
    // The trial has just ended.
    if (isCandidate && candidate === undefined) {
      return { data: { id, name, version: commitSha, text, trial: null } }
    }
    // Those who only read must not be able to spoil a trial with made-up units.
    if (isAllowed(access.role, exposureRoles)) exposures.count(access, trial, unit, arm)
    const chosen =
      candidate === undefined ? { version: commitSha, text } : { version: trial.commitSha, text: candidate.text }
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

/** The unit that a text is for; null without one. */
function unitIn(query: Query): string | null {
  const unit = lastValue(query.unit)
  if (unit === undefined) return null
  if (unit === '' || isLongerThan(unit, maxUnitLength)) {
    throw invalidField('unit', `must be 1 to ${maxUnitLength} characters long`)
  }
  return unit
}
