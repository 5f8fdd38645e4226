import { changesOf, impactOf } from './history.ts'
import {
  any,
  type Call,
  created,
  invalid,
  noContent,
  ok,
  type Prediction,
  page,
  parseObject,
  type Request,
} from './request.ts'
import { tally } from './signals.ts'
import { audit, day, existingPrompts, floor, iso, type Model, type Prompt, type Signal } from './state.ts'

/** Signals of the last 30 days, today included. */
function recentSignals({ signals }: Prompt, now: number): Signal[] {
  const today = floor(now, day)
  return signals.filter(({ createdAt }) => createdAt >= today - 29 * day && createdAt < today + day)
}

function overviewOf(model: Model, prompt: Prompt, now: number): object {
  const { id, name, createdAt } = prompt
  const [last] = changesOf(prompt)
  const signals = recentSignals(prompt, now)
  const days = Array.from({ length: 30 }, (_, i) => floor(now, day) - (29 - i) * day).map((start) => {
    return { start: iso(start), ...tally(signals.filter((signal) => floor(signal.createdAt, day) === start)) }
  })
  return {
    id,
    name,
    path: null,
    created_at: iso(createdAt),
    last_change: last ?? null,
    verdict: last === undefined ? null : impactOf(model, prompt, last, now).verdict,
    signals: { ...tally(signals), days },
  }
}

export function readPrompt({ model, prompt, now }: Call): Prediction {
  return ok({ data: overviewOf(model, prompt, now) })
}

/** In the default order, by name. Sorting and searching have tests of their own. */
export function listPrompts({ model, organisation, query, now }: Call): Prediction {
  const byName = (a: Prompt, b: Prompt) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
  const { data, pagination } = page(existingPrompts(organisation).sort(byName), query)
  return ok({ data: data.map((prompt) => overviewOf(model, prompt, now)), pagination })
}

export function createPrompt({ model, organisation, key, request, now }: Call): Prediction {
  const prompt: Prompt = { id: '', name: nameIn(request), createdAt: now, deleted: false, signals: [], entries: [] }
  const body = { data: { ...overviewOf(model, prompt, now), id: any } }
  return created<{ data: { id: string } }>(body, ({ data }) => {
    prompt.id = data.id
    organisation.prompts.push(prompt)
    audit(organisation, key, now, 'prompt.created', prompt.id, prompt.name)
  })
}

export function renamePrompt(call: Call): Prediction {
  const { organisation, key, prompt, request, now } = call
  const name = nameIn(request)
  audit(organisation, key, now, 'prompt.renamed', prompt.id, name, { from: prompt.name })
  prompt.name = name
  return readPrompt(call)
}

export function deletePrompt({ organisation, key, prompt, now }: Call): Prediction {
  prompt.deleted = true
  audit(organisation, key, now, 'prompt.deleted', prompt.id, prompt.name)
  return noContent()
}

function nameIn({ body }: Request): string {
  const { name } = parseObject(body)
  return typeof name === 'string' && name.trim() !== '' ? name : invalid()
}
