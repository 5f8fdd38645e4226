import type { Actor } from './access/audit.ts'
import type { PageRequest } from './page.ts'
import { randomBase62 } from './random.ts'
import { validLine } from './text.ts'
import type { Instant } from './time.ts'

export interface Prompt {
  id: number
  /** What the outside world calls the prompt: `pmt_` and an opaque suffix. */
  publicId: string
  organisationId: number
  name: string
  createdAt: Instant
  /** The repository that the prompt's file is in, and where; null for a prompt that was created by hand. */
  repositoryId: number | null
  path: string | null
}

export type NewPrompt = Omit<Prompt, 'id' | 'repositoryId' | 'path'>

export interface PromptPage {
  prompts: Prompt[]
  totalCount: number
}

export const promptSorts = ['name', 'last_change', 'signals', 'positive_share'] as const

/** By signals and share of positive ones: those since an instant. What has none of it comes last either way. */
export interface PromptOrder {
  by: (typeof promptSorts)[number]
  descending: boolean
  since: Instant
}

export interface PromptStore {
  create(prompt: NewPrompt, by: Actor): Promise<Prompt>
  /** A prompt that was deleted, or that belongs to another organisation, is not found. */
  find(organisationId: number, publicId: string): Promise<Prompt | null>
  /** For the operator's command, which stands above organisations. */
  findAnywhere(publicId: string): Promise<Prompt | null>
  list(organisationId: number): Promise<Prompt[]>
  /** Those that the search finds, in this order, then by name and id. */
  page(organisationId: number, search: string, order: PromptOrder, request: PageRequest): Promise<PromptPage>
  /** Null where the prompt was deleted meanwhile. */
  rename(prompt: Prompt, name: string, at: Instant, by: Actor): Promise<Prompt | null>
  /** The prompt is not found from now on; its history and its signals stay stored. */
  delete(prompt: Prompt, at: Instant, by: Actor): Promise<void>
}

const shape = /^pmt_[0-9A-Za-z]{24}$/

export function newPrompt(organisationId: number, name: string, now: Instant): NewPrompt {
  return {
    publicId: `pmt_${randomBase62(24)}`,
    organisationId,
    name: promptName(name),
    createdAt: now,
  }
}

export function promptName(text: string): string {
  return validLine('name', text, 1_000)
}

/** What finds prompts by a part of their name or path, in whatever case and form of Unicode either is written. */
export function promptSearch(text: string): (prompt: Prompt) => boolean {
  const wanted = folded(text)
  return ({ name, path }) => folded(name).includes(wanted) || (path !== null && folded(path).includes(wanted))
}

function folded(text: string): string {
  return text.normalize().toLowerCase()
}

/**
 * What to look up for an ID that somebody sent. A malformed one becomes an ID that no prompt has, so that it takes the
 * same way through the store, and the same time, as any other that is not there.
 */
export function lookupId(text: string): string {
  return shape.test(text) ? text : 'pmt_'
}
