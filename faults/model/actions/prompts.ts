import type { Request } from '../request.ts'
import {
  type Action,
  admins,
  type Draw,
  firstKey,
  type Run,
  readers,
  recorders,
  someKey,
  someOrganisation,
  somePromptId,
} from '../run.ts'
import { day, existingPrompts, hour, iso } from '../state.ts'

const maxPrompts = 12

const names = ['prompt', 'Prompts/b.md', 'prompts/', 'prompts/support/', 'prompts/support/deep/'].flatMap((name) =>
  name.endsWith('/') ? ['a', 'b', 'c', 'd', 'e'].map((letter) => `${name}${letter}.md`) : [name],
)

export const createPrompt: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  if (existingPrompts(organisation).length >= maxPrompts) return
  const body = JSON.stringify({ name: draw.chance(0.05) ? '' : draw.one(names) })
  await run.send({ method: 'POST', path: '/prompts', key: someKey(run, draw, organisation, admins), body })
}

/** A key that is limited to prompts may see it before and not after, or the other way round. */
export const renamePrompt: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const path = `/prompts/${somePromptId(run, draw, organisation)}`
  const read: Request = { method: 'GET', path: `${path}/history`, key: someKey(run, draw, organisation, readers) }
  const body = JSON.stringify({ name: draw.chance(0.05) ? '' : draw.one(names) })
  await run.send(read)
  await run.send({ method: 'PATCH', path, key: someKey(run, draw, organisation, admins), body })
  await run.send(read)
}

export const deletePrompt: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  if (existingPrompts(organisation).length < 2) return
  const path = `/prompts/${somePromptId(run, draw, organisation)}`
  const read: Request = { method: 'GET', path: `${path}/history`, key: firstKey(organisation) }
  await run.send(read)
  await run.send({ method: 'DELETE', path, key: someKey(run, draw, organisation, admins) })
  await run.send(read)
}

function someEntry(run: Run, draw: Draw): Request {
  const organisation = someOrganisation(run, draw)
  const { now } = run.service
  const action = draw.one(['deployed', 'deployed', 'pr_opened', 'pr_merged', 'pr_closed'])
  const number = action === 'deployed' || draw.chance(0.03) ? null : draw.between(1, 20)
  const recently = [now - (now % hour), now - draw.between(0, 40 * day), now + draw.between(0, day)]
  const entry = {
    action,
    user: { name: draw.one(['Ada Lovelace', 'Grace Hopper']), email: 'author@example.com' },
    commit_sha: draw.chance(0.03) ? 'abc' : draw.one(['a', 'B', '3']).repeat(40),
    pr_number: number,
    pr_url: number && `https://forge.example/pull/${number}`,
    branch_name: 'main',
    created_at: iso(draw.one([now, now, now, ...recently])),
  }
  const path = `/prompts/${somePromptId(run, draw, organisation)}/history`
  return { method: 'POST', path, key: someKey(run, draw, organisation, recorders), body: JSON.stringify(entry) }
}

export const recordEntry: Action = async (run, draw) => {
  const request = someEntry(run, draw)
  await run.send(request)
  if (draw.chance(0.2)) await run.send(request)
}

export const recordEntryTogether: Action = (run, draw) => run.sendTogether(Array(4).fill(someEntry(run, draw)))
