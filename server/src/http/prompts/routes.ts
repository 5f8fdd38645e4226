import type { FastifyInstance } from 'fastify'
import { operations, type PromptBody, type PromptNameBody, promptSortValues } from '../../../../contract/prompts.ts'
import { type Overview, overviewStart, overviewsOf } from '../../domain/impact/overview.ts'
import { newPrompt, type Prompt, type PromptOrder, validPromptName } from '../../domain/prompt.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { enumParameter, lastValue, type Query } from '../parameters.ts'
import { toRegressionBody } from '../regressions/body.ts'
import { route } from '../route.ts'

/** List, search, create, rename and delete prompts. */
export function promptRoutes(app: FastifyInstance, { store, learned, clock }: Context): void {
  async function bodiesOf(prompts: Prompt[]): Promise<PromptBody[]> {
    return toPromptBodies(await overviewsOf(store, learned, prompts, clock()))
  }

  async function respondWith(prompt: Prompt) {
    const [data] = await bodiesOf([prompt])
    return { data }
  }

  route(app, operations.listPrompts, async (request, reply) => {
    const pageRequest = requestedPage(request.query)
    const { organisationId, prompts: glob } = request.access
    const filter = { search: lastValue((request.query as Query).q) ?? '', glob }
    const order = parseOrder(request.query as Query, clock())
    const { prompts, totalCount } = await store.prompts.page(organisationId, filter, order, pageRequest)
    return sendPage(reply, await bodiesOf(prompts), pageRequest, totalCount)
  })

  route(app, operations.createPrompt, async (request, reply) => {
    const { name } = request.body as PromptNameBody
    const { access } = request
    const created = await store.prompts.create(newPrompt(access.organisationId, name, clock()), access)
    return reply.status(201).send(await respondWith(created))
  })

  route(app, operations.getPrompt, (request) => respondWith(request.prompt))

  route(app, operations.renamePrompt, async (request) => {
    const { name } = request.body as PromptNameBody
    const renamed = await store.prompts.rename(request.prompt, validPromptName(name), clock(), request.access)
    if (renamed === null) throw notFound()
    return respondWith(renamed)
  })

  route(app, operations.deletePrompt, async (request, reply) => {
    await store.prompts.delete(request.prompt, clock(), request.access)
    return reply.status(204).send()
  })
}

function parseOrder(query: Query, now: Instant): PromptOrder {
  const value = enumParameter(query, 'sort', promptSortValues) ?? 'name'
  const descending = value.startsWith('-')
  return {
    by: (descending ? value.slice(1) : value) as PromptOrder['by'],
    descending,
    since: overviewStart(now),
  }
}

function toPromptBodies(overviews: readonly Overview[]): PromptBody[] {
  // All have the same thirty days, and a time takes a microsecond to write.
  const times = new Map<Instant, string>()
  const timeOf = (at: Instant): string => {
    const text = times.get(at) ?? isoTime(at)
    times.set(at, text)
    return text
  }
  return overviews.map((overview) => toPromptBody(overview, timeOf))
}

function toPromptBody(
  { prompt, lastChange, days, signals, regression }: Overview,
  timeOf: (at: Instant) => string,
): PromptBody {
  const { publicId, name, path, createdAt } = prompt
  return {
    id: publicId,
    name,
    path,
    created_at: isoTime(createdAt),
    last_change: lastChange === null ? null : toHistoryEntryBody(lastChange.entry),
    verdict: lastChange?.verdict ?? null,
    first_version: lastChange?.isFirst ?? false,
    signals: {
      ...signals,
      days: days.map(({ start, positive, negative }) => ({ start: timeOf(start), positive, negative })),
    },
    regression: regression && toRegressionBody(regression),
  }
}
