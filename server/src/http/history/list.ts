import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/history.ts'
import type { HistoryPage } from '../../domain/history/history.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Store } from '../../domain/store.ts'
import { type Answer, json, send } from '../answer.ts'
import type { Context } from '../context.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { route } from '../route.ts'
import { toHistoryEntryBody } from './body.ts'

// The store returns the same page object until the history changes, so each page is rendered once.
const rendered = new WeakMap<HistoryPage, Answer>()

export function listHistoryRoute(app: FastifyInstance, { store }: Context): void {
  route(app, operations.listHistory, async (request, reply) =>
    send(reply, await historyAnswer(store, request.prompt, request.query)),
  )
}

export async function historyAnswer({ history }: Store, prompt: Prompt, query: unknown): Promise<Answer> {
  const request = requestedPage(query)
  const page = await history.page(prompt, request)
  let answer = rendered.get(page)
  if (answer === undefined) {
    const body = Buffer.from(renderPage(page.entries.map(toHistoryEntryBody), request, page.totalCount))
    answer = { status: 200, headers: json, body }
    rendered.set(page, answer)
  }
  return answer
}
