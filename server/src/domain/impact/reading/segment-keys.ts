import type { Actor } from '../../access/audit.ts'
import { invalidField } from '../../errors.ts'
import type { Prompt } from '../../prompt.ts'
import { validName } from '../../text.ts'
import type { Instant } from '../../time.ts'

/** The declared keys of a prompt, and whether it declares them itself. */
export interface SegmentKeys {
  keys: string[]
  source: 'prompt' | 'organisation'
}

export interface SegmentStore {
  ofOrganisation(organisationId: number): Promise<string[]>
  ofPrompt(prompt: Prompt): Promise<SegmentKeys>
  setForOrganisation(organisationId: number, keys: string[], at: Instant, by: Actor): Promise<void>
  /** Null for those of the organisation. */
  setForPrompt(prompt: Prompt, keys: string[] | null, at: Instant, by: Actor): Promise<void>
}

// Each key is a question that is asked of every change. More of them find more differences that are chance.
export const maxSegmentKeys = 5
const maxKeyLength = 100

export function validSegmentKeys(keys: string[]): string[] {
  if (keys.length > maxSegmentKeys) throw invalidField('keys', `must have at most ${maxSegmentKeys} keys`)
  for (const [i, key] of keys.entries()) {
    validName(`keys.${i}`, key, maxKeyLength)
    if (keys.indexOf(key) !== i) throw invalidField(`keys.${i}`, 'must not repeat an earlier key')
  }
  return keys
}
