import type { Request } from '../model/request.ts'
import { day, hour, iso } from '../model/time.ts'
import { admins, keeperOf, living, someKey, someOrganisation, somePromptId, type Year } from './choice.ts'

function promptName({ chance }: Year): string {
  return chance.one([
    'Support answers',
    'support ANSWERS',
    'Ähnlich',
    'zeta',
    'Zeta',
    '10 % off_',
    `prompt ${chance.between(1, 99)}`,
  ])
}

export async function createPrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const many = living(organisation).length >= 12
  const name = many || year.chance.happens(0.05) ? '' : promptName(year)
  await year.ask({
    method: 'POST',
    path: '/prompts',
    key: someKey(year, organisation, admins),
    body: JSON.stringify({ name }),
  })
}

export async function renamePrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const path = `/prompts/${somePromptId(year, organisation)}`
  const body = JSON.stringify({ name: promptName(year) })
  await year.ask({ method: 'PATCH', path, key: someKey(year, organisation, admins), body })
}

export async function deletePrompt(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  if (living(organisation).length < 2) return
  const path = `/prompts/${somePromptId(year, organisation)}`
  const read: Request = { method: 'GET', path: `${path}/history`, key: keeperOf(organisation) }
  await year.ask(read)
  await year.ask({ method: 'DELETE', path, key: someKey(year, organisation, admins) })
  await year.ask(read)
}

function someEntry(year: Year): Request {
  const { chance } = year
  const organisation = someOrganisation(year)
  const action = chance.one(['deployed', 'deployed', 'pr_opened', 'pr_merged', 'pr_closed'])
  const isPull = action !== 'deployed' && !chance.happens(0.03)
  const number = isPull ? chance.between(1, 20) : null
  const now = year.now()
  // Mostly of now; sometimes told late, early, or at the time of another.
  const created = chance.one([
    now,
    now,
    now,
    now - (now % hour),
    now - chance.between(0, 40 * day),
    now + chance.between(0, day),
  ])
  const entry = {
    action,
    user: { name: chance.one(['Ada Lovelace', 'Grace Hopper']), email: 'somebody@example.com' },
    commit_sha: chance.happens(0.03) ? 'abc' : chance.one(['a', 'B', '3']).repeat(40),
    pr_number: number,
    pr_url: isPull ? `https://forge.example/pull/${number}` : null,
    branch_name: 'main',
    created_at: iso(created),
  }
  const path = `/prompts/${somePromptId(year, organisation)}/history`
  return { method: 'POST', path, key: someKey(year, organisation, admins), body: JSON.stringify(entry) }
}

export async function recordEntry(year: Year): Promise<void> {
  const request = someEntry(year)
  await year.ask(request)
  if (year.chance.happens(0.2)) await year.ask(request)
}

export async function recordEntryTogether(year: Year): Promise<void> {
  await year.askTogether(Array(4).fill(someEntry(year)))
}
