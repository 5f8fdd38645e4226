import type { Actor } from './access/audit.ts'
import { DomainError } from './errors.ts'
import { matchesGlob } from './glob.ts'
import type { PageRequest } from './page.ts'
import { randomBase62 } from './random.ts'
import { repositoryPlace } from './repositories/repository-identity.ts'
import { folded, sanitisedLine, validName } from './text.ts'
import type { Instant } from './time.ts'

export interface Prompt {
  id: number
  /** The ID used in the API: `pmt_` and an opaque suffix. */
  publicId: string
  organisationId: number
  name: string
  createdAt: Instant
  /** The repository and path of the prompt's file. Null for a prompt created through the API or the CLI. */
  repositoryId: number | null
  path: string | null
}

type NewPrompt = Omit<Prompt, 'id' | 'repositoryId' | 'path'>

/** Its name depends on which names are free, see `namesForPath`. */
export type PromptFromPath = Omit<NewPrompt, 'name'> & { path: string }

export interface PromptPage {
  prompts: Prompt[]
  totalCount: number
}

export const promptSorts = ['name', 'last_change', 'signals', 'positive_share', 'effect', 'regression'] as const

/** `search` is part of the name or path; `glob`, if not null, must match one of them. */
interface PromptFilter {
  search: string
  glob: string | null
}

/** `since` limits which signals count. Prompts without a value to sort by come last in both directions. */
export interface PromptOrder {
  by: (typeof promptSorts)[number]
  descending: boolean
  since: Instant
}

export interface PromptStore {
  /** Throws `nameTaken` if another prompt has the name. */
  create(prompt: NewPrompt, by: Actor): Promise<Prompt>
  /** Null if the prompt is deleted or belongs to another organisation. */
  find(organisationId: number, publicId: string): Promise<Prompt | null>
  /** The prompts whose name or path is exactly this text, by ID. Of more than 1,000, the first ones. */
  named(organisationId: number, text: string): Promise<Prompt[]>
  /** For the CLI, which is not limited to one organisation. */
  findInAnyOrganisation(publicId: string): Promise<Prompt | null>
  namedInAnyOrganisation(text: string): Promise<Prompt[]>
  list(organisationId: number): Promise<Prompt[]>
  /** The existing prompts with these IDs, in no particular order. */
  withIds(organisationId: number, ids: number[]): Promise<Prompt[]>
  /** Prompts with a change that landed since then, those with the newest first. */
  changedSince(organisationId: number, since: Instant, limit: number): Promise<Prompt[]>
  /** The prompts that match the filter, in the given order, then by name and ID. */
  page(organisationId: number, filter: PromptFilter, order: PromptOrder, request: PageRequest): Promise<PromptPage>
  /** Null if the prompt has been deleted. Throws `nameTaken` if another prompt has the name. */
  rename(prompt: Prompt, name: string, at: Instant, by: Actor): Promise<Prompt | null>
  /** Hides the prompt. Its history and signals stay stored. */
  delete(prompt: Prompt, at: Instant, by: Actor): Promise<void>
}

const maxNameLength = 1_000
const maxPlaceLength = 200
const shape = /^pmt_[0-9A-Za-z]{24}$/

export function newPrompt(organisationId: number, name: string, now: Instant): NewPrompt {
  return {
    publicId: generatePublicId(),
    organisationId,
    name: validPromptName(name),
    createdAt: now,
  }
}

/** A prompt found in git. Its path is untrusted: it is kept, hidden characters included, which are shown as marks. */
export function promptFromPath(organisationId: number, path: string, now: Instant): PromptFromPath {
  return { publicId: generatePublicId(), organisationId, createdAt: now, path }
}

/**
 * The names that a prompt found in git may get, best first: its path, or one that also says where it is if another prompt has
 * that name already. The last one is always free.
 */
export function namesForPath(path: string | null, publicId: string, repositoryUrl: string): [string, string, string] {
  const place = repositoryPlace(repositoryUrl).replace(/^file:\/\//, '')
  const withSuffix = (suffix: string) => {
    const base = sanitisedLine(path ?? 'moved', maxNameLength - suffix.length, 'unnamed')
    return `${base}${suffix}`
  }
  return [
    withSuffix(''),
    withSuffix(` (${sanitisedLine(place, maxPlaceLength, 'repository')})`),
    withSuffix(` (${publicId})`),
  ]
}

/** For a name that another prompt of the organisation has. */
export function nameTaken(publicId: string): DomainError {
  return new DomainError(
    'conflict',
    `Another prompt, ${publicId}, already has this name. Choose a different name, or rename or delete that prompt first.`,
  )
}

function generatePublicId(): string {
  return `pmt_${randomBase62(24)}`
}

export function validPromptName(text: string): string {
  return validName('name', text, maxNameLength)
}

/** The search ignores case and Unicode normalisation; the glob does not. */
export function matchesFilter({ search, glob }: PromptFilter): (prompt: Pick<Prompt, 'name' | 'path'>) => boolean {
  const term = folded(search)
  return (prompt) => {
    const { name, path } = prompt
    return (
      matchesPromptGlob(glob, prompt) && (folded(name).includes(term) || (path !== null && folded(path).includes(term)))
    )
  }
}

/** Whether the glob matches the name or the path. Without a glob, every prompt matches. */
export function matchesPromptGlob(glob: string | null, { name, path }: Pick<Prompt, 'name' | 'path'>): boolean {
  return glob === null || matchesGlob(glob, name) || (path !== null && matchesGlob(glob, path))
}

/**
 * Replaces a malformed ID by one that no prompt has. It then takes the same path through the store as any unknown ID, so
 * response times do not reveal the difference.
 */
export function lookupId(text: string): string {
  return shape.test(text) ? text : 'pmt_'
}
