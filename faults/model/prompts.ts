import { audit } from './audit.ts'
import { isDeployed } from './deployments.ts'
import { changesOf } from './history.ts'
import {
  any,
  type Call,
  created,
  invalid,
  noContent,
  ok,
  others,
  type Prediction,
  page,
  parseObject,
  reject,
} from './request.ts'
import {
  existingPrompts,
  iso,
  createPrompt as newPrompt,
  type Organisation,
  type Prompt,
  visiblePrompts,
} from './state.ts'

/** Verdicts and daily sums have tests of their own. */
function promptBody(prompt: Prompt) {
  const { id, name, createdAt } = prompt
  // What deployments make of the history has tests of its own.
  const last_change = isDeployed(prompt) ? any : (changesOf(prompt)[0] ?? null)
  return { id, name, path: null, created_at: iso(createdAt), last_change, [others]: true }
}

/** By name, then in the order in which they were created. */
export function listPrompts({ organisation, key, query: { q = '', ...query } }: Call): Prediction {
  const matching = visiblePrompts(organisation, key).filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
  const sorted = matching.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  return ok(page(sorted.map(promptBody), query))
}

export function readPrompt({ prompt }: Call): Prediction {
  return ok({ data: promptBody(prompt) })
}

function parseName(body: string | undefined): string {
  const { name } = parseObject(body)
  return typeof name === 'string' && name.trim() !== '' ? name : invalid()
}

function requireFreeName(organisation: Organisation, name: string, renamed?: Prompt): void {
  if (existingPrompts(organisation).some((prompt) => prompt.name === name && prompt !== renamed))
    reject(409, 'conflict')
}

export function createPrompt({ organisation, key, request, now }: Call): Prediction {
  const prompt = newPrompt('', parseName(request.body), now)
  requireFreeName(organisation, prompt.name)
  return created<{ data: { id: string } }>({ data: { ...promptBody(prompt), id: any } }, ({ data }) => {
    prompt.id = data.id
    organisation.prompts.push(prompt)
    audit({ organisation, key, action: 'prompt.created', subject: prompt }, now)
  })
}

export function renamePrompt({ organisation, key, prompt, request, now }: Call): Prediction {
  const from = prompt.name
  const name = parseName(request.body)
  requireFreeName(organisation, name, prompt)
  prompt.name = name
  audit({ organisation, key, action: 'prompt.renamed', subject: prompt, details: { from } }, now)
  return readPrompt({ prompt } as Call)
}

export function deletePrompt({ organisation, key, prompt, now }: Call): Prediction {
  prompt.deleted = true
  audit({ organisation, key, action: 'prompt.deleted', subject: prompt }, now)
  return noContent()
}
