import type { NewSignal } from './types.ts'

export type Arm = 'control' | 'candidate'

export interface DeliveryOptions {
  /** A glob: fetch only prompts whose name or path matches. */
  prompts?: string | undefined
  /**
   * The folder for the copy that is used while the service is down. Only its owner can read it. Defaults to `promptledger` in the user's
   * cache folder; null for no copy.
   */
  folder?: string | null | undefined
  /** Milliseconds between requests. Defaults to what the service asks for: 15,000. */
  refreshInterval?: number | undefined
  /** Called once for each problem: a wrong key, a missing fallback, a service that is down. Defaults to a warning on the console. */
  onError?: ((error: unknown) => void) | undefined
}

export interface TextOptions {
  /** The user or conversation that the text is for, which gets the same version every time. Without it, always the live version. */
  unit?: string | number | null | undefined
  /** The path of a file with a text, or a text, to use if the service and the copy on disk have none. */
  fallback: string | { text: string }
}

/** The text of a prompt for a unit. Pass it to `signals.create` to vote on what came of it. */
export interface PromptText {
  text: string
  /** The commit that brought the text. Null for the fallback. */
  version: string | null
  /** The trial that chose the text. Null without one, and without a unit. */
  trial: { id: string; arm: Arm } | null
  /** The ID of the prompt. For the fallback, what the caller named. */
  prompt: string
  unit: string | null
}

/** A signal on a prompt, or on a text: then with the version and the unit that it names. */
export function signalOn(prompt: string | PromptText, signal: NewSignal): { promptId: string; signal: NewSignal } {
  if (typeof prompt === 'string') return { promptId: prompt, signal }
  const { version, unit } = prompt
  const named = { ...(version !== null && { version }), ...(unit !== null && { voter: unit }) }
  return { promptId: prompt.prompt, signal: { ...named, ...signal } }
}
