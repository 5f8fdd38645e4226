import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

/** Which process judges all prompts with recent votes once a day, and which prompts these are. */
export interface SweepStore {
  /** False if it is not due, or another process is at work. */
  claim(owner: string, now: Instant, until: Instant): Promise<boolean>
  /** False if another process has taken over. */
  renew(owner: string, until: Instant): Promise<boolean>
  finish(owner: string, dueAt: Instant): Promise<void>
  /**
   * Of the next `limit` prompts of all organisations by ID, those that exist and have signals since an hour. `last` is the ID to
   * continue after, null if there are no more.
   */
  votedPrompts(since: Instant, after: number, limit: number): Promise<{ prompts: Prompt[]; last: number | null }>
}
