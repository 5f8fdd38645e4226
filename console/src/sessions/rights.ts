import type { SessionInfo } from '@promptledger/client'

type Key = Pick<SessionInfo['key'], 'role'>

/** Deletes signals, dismisses regressions and shares prompts. */
export function canEdit({ role }: Key): boolean {
  return role === 'standard' || role === 'member' || role === 'admin'
}

export function canRunTrials({ role }: Key): boolean {
  return role === 'deploy' || role === 'member' || role === 'admin'
}

/** Admins manage the keys of the organisation, other people their own. */
export function canManageKeys({ key, person }: SessionInfo): boolean {
  return key.role === 'admin' || isSignedInPerson({ key, person })
}

/** Whether a person is signed in, rather than a key. */
export function isSignedInPerson({ key, person }: Pick<SessionInfo, 'key' | 'person'>): boolean {
  return person !== null && key.hint === ''
}

/** The address of the person who is signed in, or whose key is named after it. */
export function emailOf({ key, person }: Pick<SessionInfo, 'key' | 'person'>): string | null {
  return person?.email ?? (/^[^\s@]+@[^\s@]+$/.test(key.name) ? key.name : null)
}
