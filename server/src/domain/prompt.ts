import { randomBase62 } from './random.ts'
import { lineOfText } from './text.ts'
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

export interface PromptStore {
  create(prompt: NewPrompt): Promise<Prompt>
  /** A prompt that was deleted, or that belongs to another organisation, is not found. */
  find(organisationId: number, publicId: string): Promise<Prompt | null>
  /** For the operator's command, which stands above organisations. */
  findAnywhere(publicId: string): Promise<Prompt | null>
  list(organisationId: number): Promise<Prompt[]>
  /** The prompt is not found from now on; its history and its signals stay stored. */
  delete(prompt: Prompt, at: Instant): Promise<void>
}

const shape = /^pmt_[0-9A-Za-z]{24}$/

export function newPrompt(organisationId: number, name: string, now: Instant): NewPrompt {
  return {
    publicId: `pmt_${randomBase62(24)}`,
    organisationId,
    name: lineOfText('name', name, 1_000),
    createdAt: now,
  }
}

/**
 * What to look up for an ID that somebody sent. A malformed one becomes an ID that no prompt has, so that it takes the
 * same way through the store, and the same time, as any other that is not there.
 */
export function lookupId(text: string): string {
  return shape.test(text) ? text : 'pmt_'
}
