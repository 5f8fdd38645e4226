import type { Request } from '../model/request.ts'
import {
  admins,
  living,
  readers,
  someId,
  someKey,
  someOrganisation,
  somePromptId,
  someTime,
  type Year,
} from './choice.ts'

export async function read(year: Year, path: string, query: Request['query'] = {}): Promise<void> {
  await year.ask({ method: 'GET', path, query, key: someKey(year, someOrganisation(year), admins) })
}

export async function readPrompt(year: Year, path: string, query: Request['query'] = {}): Promise<void> {
  const organisation = someOrganisation(year)
  const prompt = `/prompts/${somePromptId(year, organisation)}`
  await year.ask({ method: 'GET', path: `${prompt}${path}`, query, key: someKey(year, organisation, readers) })
}

export async function readEntry(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const prompt = chance.one(living(organisation))
  const id = someId(year, prompt.entries)
  const path = `/prompts/${prompt.id}/history/${id}`
  await year.ask({ method: 'GET', path, key: someKey(year, organisation, readers) })
}

export function pageQuery({ chance }: Year): Record<string, string> {
  return {
    ...(chance.happens(0.6) && {
      page: chance.one(['1', '2', '3', '4', '7', '30', '0', '-1', '1.5', 'last', '02', '123456']),
    }),
    ...(chance.happens(0.6) && { limit: chance.one(['1', '2', '5', '10', '100', '101', '1000', '0', 'all', '3.5']) }),
  }
}

function spanQuery(year: Year, from: string, to: string): Record<string, string> {
  const { chance } = year
  return {
    ...(chance.happens(0.4) && { [from]: someTime(year) }),
    ...(chance.happens(0.4) && { [to]: someTime(year) }),
  }
}

export function signalQuery(year: Year): Record<string, string> {
  const { chance } = year
  const value = chance.happens(0.3) && { value: chance.one(['positive', 'negative', 'negative', 'both']) }
  return { ...spanQuery(year, 'since', 'until'), ...value }
}

export function summaryQuery(year: Year): Record<string, string> {
  const { chance } = year
  const interval = chance.happens(0.7) && { interval: chance.one(['hour', 'day', 'week', 'week', 'year']) }
  return { ...spanQuery(year, 'from', 'to'), ...interval }
}

export function timelineQuery(year: Year): Record<string, string> {
  const { chance } = year
  const action = chance.happens(0.3) && {
    action: chance.one(['deployed', 'pr_merged,pr_closed', 'pr_opened', 'pr_opened,none']),
  }
  return { ...spanQuery(year, 'since', 'until'), ...action }
}

export function promptQuery({ chance }: Year): Record<string, string> {
  const sorts = ['name', 'last_change', 'signals', 'positive_share'].flatMap((sort) => [sort, `-${sort}`])
  return {
    ...(chance.happens(0.6) && { sort: chance.one([...sorts, 'age']) }),
    ...(chance.happens(0.3) && { q: chance.one(['support', 'Ä', '%', '_', 'z', 'nothing']) }),
  }
}

export function auditQuery(year: Year): Record<string, string> {
  const { chance } = year
  const actions = [
    'key.created',
    'key.rotated',
    'prompt.deleted',
    'signal.retracted',
    'signals.erased',
    'organisation.plan_changed',
  ]
  return { ...spanQuery(year, 'since', 'until'), ...(chance.happens(0.3) && { action: chance.one(actions) }) }
}
