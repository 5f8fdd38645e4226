import type { Query } from '../request.ts'
import { type Action, firstKey, type Run, someKey, someOrganisation, somePromptId, someTime } from '../run.ts'
import { iso } from '../state.ts'

/** Each parameter is present half of the time. */
function readPrompt(part: string, parameters: Record<string, readonly string[] | typeof someTime>): Action {
  return async (run, draw) => {
    const organisation = someOrganisation(run, draw)
    const path = `/prompts/${somePromptId(run, draw, organisation)}/${part}`
    const present = Object.entries(parameters).filter(() => draw.chance(0.5))
    const value = (from: (typeof present)[0][1]) => (typeof from === 'function' ? from(run, draw) : draw.one(from))
    const query = Object.fromEntries(present.map(([name, from]) => [name, value(from)]))
    await run.send({ method: 'GET', path, query, key: someKey(run, draw, organisation) })
  }
}

export const readSignals = readPrompt('signals', {
  since: someTime,
  until: someTime,
  value: ['positive', 'negative', 'negative'],
  version: ['c0ffee1', '770000'],
  page: ['1', '2', '3', '7'],
  limit: ['1', '2', '10', '100'],
})

export const readSummary = readPrompt('signals/summary', {
  from: someTime,
  to: someTime,
  interval: ['hour', 'day'],
})

export const readUsage: Action = async (run, draw) => {
  await run.send({ method: 'GET', path: '/usage', key: someKey(run, draw, someOrganisation(run, draw)) })
}

/** Reads all signals, sums and usage, at the end of a run. */
export async function readEverything(run: Run, since: number): Promise<void> {
  for (const organisation of run.model.organisations) {
    const get = (path: string, query: Query = {}) =>
      run.send({ method: 'GET', path, query, key: firstKey(organisation) })
    await get('/usage')
    for (const { id, signals } of organisation.prompts) {
      for (let page = 0; page <= signals.length / 100; page++) {
        await get(`/prompts/${id}/signals`, { page: String(page + 1), limit: '100' })
      }
      const to = iso(run.service.now + 1)
      await get(`/prompts/${id}/signals/summary`, { from: iso(since), to, interval: 'day' })
    }
  }
}
