import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

/** Which process judges all prompts with recent votes once a day, which prompts these are, and those that were changed in bulk. */
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
  /** Prompts that an import, a restore or an erasure has changed, and that no other process judges. They are claimed until then. */
  claimQueued(now: Instant, until: Instant, limit: number): Promise<QueuedPrompt[]>
  /** Takes a prompt that was claimed until then out of the queue, unless it was changed again since. */
  finishQueued(prompt: QueuedPrompt, until: Instant): Promise<void>
}

interface QueuedPrompt {
  organisationId: number
  promptId: number
}
