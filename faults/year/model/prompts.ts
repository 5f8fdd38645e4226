import { changes, impactOf, rate } from './history.ts'
import { any, invalid, type Prediction, page, parsed, type Query, type Request } from './request.ts'
import { tally } from './signals.ts'
import { audit, type Caller, type Model, type Organisation, type Prompt, type Signal } from './state.ts'
import { day, floor, iso } from './time.ts'

/** Signals of the last thirty days, today included. */
function lately({ signals }: Prompt, now: number): Signal[] {
  return signals.filter(({ createdAt }) => createdAt >= floor(now, day) - 29 * day)
}

export function overview(model: Model, prompt: Prompt, now: number): object {
  const { id, name, createdAt } = prompt
  const [last] = changes(prompt.entries)
  const signals = lately(prompt, now)
  const days = Array.from({ length: 30 }, (_, i) => floor(now, day) - (29 - i) * day).map((start) => {
    return { start: iso(start), ...tally(signals.filter((signal) => floor(signal.createdAt, day) === start)) }
  })
  const verdict = last === undefined ? null : (impactOf(model, prompt, last) as { verdict: string }).verdict
  const figures = { ...tally(signals), days }
  return { id, name, path: null, created_at: iso(createdAt), last_change: last ?? null, verdict, signals: figures }
}

export function listPrompts(model: Model, { prompts }: Organisation, query: Query, now: number): object {
  const sort = query.sort ?? 'name'
  const by = sort.replace(/^-/, '')
  const sign = sort.startsWith('-') ? -1 : 1
  const figure = (prompt: Prompt): number | null => {
    const signals = lately(prompt, now)
    const [last] = changes(prompt.entries)
    if (by === 'last_change') return last === undefined ? null : Date.parse(last.created_at)
    if (by === 'signals') return signals.length || null
    return rate(tally(signals))
  }
  const byName = (a: Prompt, b: Prompt) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
  if (!['name', 'last_change', 'signals', 'positive_share'].includes(by)) throw invalid()
  const found = prompts
    .filter(({ deleted, name }) => !deleted && name.toLowerCase().includes((query.q ?? '').toLowerCase()))
    .map((prompt, age) => ({ prompt, age, figure: by === 'name' ? null : figure(prompt) }))
    .sort((a, b) => {
      const names = byName(a.prompt, b.prompt)
      if (by === 'name') return sign * names || a.age - b.age
      if (a.figure === null || b.figure === null) {
        if (a.figure !== b.figure) return a.figure === null ? 1 : -1
        return names || a.age - b.age
      }
      return sign * (a.figure - b.figure) || names || a.age - b.age
    })
  const { data, pagination } = page(found, query)
  return { data: data.map(({ prompt }) => overview(model, prompt, now)), pagination }
}

export function createPrompt(model: Model, { organisation, key }: Caller, request: Request, now: number): Prediction {
  const prompt: Prompt = { id: '', name: nameIn(request), createdAt: now, deleted: false, signals: [], entries: [] }
  return {
    status: 201,
    body: { data: { ...overview(model, prompt, now), id: any } },
    headers: {},
    learn({ data }: { data: { id: string } }) {
      prompt.id = data.id
      organisation.prompts.push(prompt)
      audit(organisation, key, now, 'prompt.created', prompt.id, prompt.name)
    },
  }
}

export function nameIn({ body = '' }: Request): string {
  const { name } = parsed(body)
  if (typeof name !== 'string' || name.trim() === '') throw invalid()
  return name
}
