import type { Actor } from '../access/audit.ts'
import { DomainError, invalidField } from '../errors.ts'
import { validGlob } from '../glob.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'

/** Whether applications fetch texts from the service, and the globs of prompts that they cannot fetch. */
export interface DeliverySettings {
  enabled: boolean
  excluded: string[]
}

export const maxUndelivered = 20

export interface DeliverySettingsStore {
  settings(organisationId: number): Promise<DeliverySettings>
  /** Returns the new settings. Undefined keeps a value. */
  updateSettings(
    organisationId: number,
    update: Partial<DeliverySettings>,
    at: Instant,
    by: Actor,
  ): Promise<DeliverySettings>
  /** The organisations that deliver texts. */
  delivering(): Promise<number[]>
}

export function validUndelivered(globs: string[]): string[] {
  if (globs.length > maxUndelivered) throw invalidField('excluded', `must have at most ${maxUndelivered} items`)
  return [...new Set(globs.map((glob) => validGlob('excluded', glob)))]
}

export function isDelivered({ excluded }: DeliverySettings, prompt: Pick<Prompt, 'name' | 'path'>): boolean {
  return !excluded.some((glob) => matchesPromptGlob(glob, prompt))
}

export function deliveryIsOff(): DomainError {
  return new DomainError(
    'conflict',
    'Text delivery is off. An admin turns it on with PATCH /api/v1/delivery/settings {"enabled": true}.',
  )
}

export function isExcluded(): DomainError {
  return new DomainError('not_found', 'The settings of text delivery exclude this prompt.')
}
