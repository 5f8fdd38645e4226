import type { SessionInfo } from '@promptledger/client'

type Key = Pick<SessionInfo['key'], 'role'>

/** Deletes signals, dismisses regressions and shares prompts. */
export function canEdit({ role }: Key): boolean {
  return role === 'standard' || role === 'admin'
}

export function canRunTrials({ role }: Key): boolean {
  return role === 'deploy' || role === 'admin'
}
