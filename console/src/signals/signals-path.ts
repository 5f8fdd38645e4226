import type { SignalsOfChange, SignalValue } from '@promptledger/client'
import { promptPath } from '../prompt/prompt-path.ts'

/** Before or after a change. */
export type ChangeSide = SignalsOfChange['side']

export interface LinkedSignals {
  /** The ID of a history entry: only signals that its impact counts, on this side. */
  change?: number
  side?: ChangeSide
  value?: SignalValue
  comment?: 'any'
  metadata?: Record<string, string>
}

/** The signals page of a prompt with these filters. */
export function signalsPath(promptId: string, { metadata = {}, ...filter }: LinkedSignals = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value))
  for (const [name, value] of Object.entries(metadata)) query.set(`metadata.${name}`, value)
  return `${promptPath(promptId)}/signals${query.size === 0 ? '' : `?${query}`}`
}
