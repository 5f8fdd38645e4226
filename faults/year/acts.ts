import { keeperOf, living, someTime, type Year } from './acts/choice.ts'
import { createKey, flushUses, revokeKey, rotateKey, rotateTogether, setPlan, signIn, useSession } from './acts/keys.ts'
import { createPrompt, deletePrompt, recordEntry, recordEntryTogether, renamePrompt } from './acts/prompts.ts'
import {
  auditQuery,
  pageQuery,
  promptQuery,
  read,
  readEntry,
  readPrompt,
  signalQuery,
  summaryQuery,
  timelineQuery,
} from './acts/readings.ts'
import {
  burst,
  cutShort,
  erase,
  reachLimit,
  recordOne,
  removeOld,
  repeatTogether,
  retract,
  retractTogether,
} from './acts/signals.ts'
import { iso } from './model/time.ts'

interface Act {
  weight: number
  act(year: Year): Promise<unknown>
}

/** What happens in a year of so many steps; what takes long happens less often than the steps would have it. */
export function actsOf(steps: number): Act[] {
  const all = often.reduce((sum, { weight }) => sum + weight, 0)
  const perYear = (short: number, full: number) => (all / steps) * Math.min(full, (short * steps) / 800)
  return [
    ...often,
    { weight: perYear(4, 150), act: burst },
    { weight: perYear(2, 60), act: reachLimit },
    { weight: perYear(10, 30), act: erase },
    { weight: perYear(4, 15), act: (year) => year.restart() },
    { weight: perYear(2, 8), act: cutShort },
    { weight: perYear(10, 40), act: removeOld },
  ]
}

const often: Act[] = [
  { weight: 34, act: recordOne },
  { weight: 1, act: repeatTogether },
  { weight: 6, act: retract },
  { weight: 0.5, act: retractTogether },
  { weight: 1, act: setPlan },
  { weight: 3, act: createKey },
  { weight: 3, act: rotateKey },
  { weight: 0.4, act: rotateTogether },
  { weight: 1, act: revokeKey },
  { weight: 1.5, act: createPrompt },
  { weight: 1, act: renamePrompt },
  { weight: 0.5, act: deletePrompt },
  { weight: 5, act: recordEntry },
  { weight: 0.5, act: recordEntryTogether },
  { weight: 1, act: signIn },
  { weight: 2, act: useSession },
  { weight: 0.5, act: flushUses },
  { weight: 7, act: (year) => readPrompt(year, '/history', pageQuery(year)) },
  { weight: 8, act: (year) => readPrompt(year, '/signals', { ...pageQuery(year), ...signalQuery(year) }) },
  { weight: 1, act: (year) => readPrompt(year, '/signals/export', signalQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/signals/summary', summaryQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/impact', pageQuery(year)) },
  { weight: 4, act: (year) => readPrompt(year, '/timeline', { ...pageQuery(year), ...timelineQuery(year) }) },
  { weight: 2, act: (year) => readPrompt(year, '/live', year.chance.happens(0.7) ? { at: someTime(year) } : {}) },
  { weight: 2, act: readEntry },
  { weight: 3, act: (year) => readPrompt(year, '') },
  { weight: 4, act: (year) => read(year, '/prompts', { ...pageQuery(year), ...promptQuery(year) }) },
  { weight: 4, act: (year) => read(year, '/usage') },
  { weight: 4, act: (year) => read(year, '/audit', { ...pageQuery(year), ...auditQuery(year) }) },
  { weight: 3, act: (year) => read(year, '/keys', pageQuery(year)) },
  { weight: 0.5, act: (year) => read(year, year.chance.one(['/nothing', '/prompts/x/y/z', '/signals'])) },
]

/** Reads everything that there is. */
export async function readAll(year: Year, since: number): Promise<void> {
  for (const organisation of year.model.organisations) {
    const key = keeperOf(organisation)
    const get = (path: string, query: Record<string, string> = {}) => year.ask({ method: 'GET', path, query, key })
    for (const path of ['/usage', '/audit', '/keys', '/prompts']) await get(path, { limit: '100' })
    for (const { id } of living(organisation)) {
      for (const path of ['signals', 'signals/export', 'history', 'timeline', 'impact'])
        await get(`/prompts/${id}/${path}`)
      await get(`/prompts/${id}/signals/summary`, { from: iso(since), to: iso(year.now() + 1), interval: 'day' })
    }
  }
}
