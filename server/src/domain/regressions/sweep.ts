import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

/** Which process judges all prompts with recent votes once a day, and which prompts these are. */
export interface SweepStore {
  /** False if it is not due, or another process is at work. */
  claim(owner: string, now: Instant, until: Instant): Promise<boolean>
  /** False if another process has taken over. */
  renew(owner: string, until: Instant): Promise<boolean>
  finish(owner: string, dueAt: Instant): Promise<void>
  /** Existing prompts of all organisations with signals since an hour, by ID, from the first after `after`. */
  votedPrompts(since: Instant, after: number, limit: number): Promise<Prompt[]>
}
