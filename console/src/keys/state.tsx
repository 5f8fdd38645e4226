import type { Key } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

export type KeyState = 'works' | 'expires_soon' | 'expired' | 'revoked'

const week = 7 * 86_400_000

export function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: Key, now: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'works'
  const left = Date.parse(expiresAt) - now
  if (left <= 0) return 'expired'
  return left < week ? 'expires_soon' : 'works'
}

export function doesWork(state: KeyState): boolean {
  return state === 'works' || state === 'expires_soon'
}

const badges = {
  works: { tone: 'good', name: 'Works' },
  expires_soon: { tone: 'caution', name: 'Expires soon' },
  expired: { tone: 'plain', name: 'Expired' },
  revoked: { tone: 'plain', name: 'Revoked' },
} as const

export function KeyStateBadge({ state }: { state: KeyState }) {
  const { tone, name } = badges[state]
  return <Badge tone={tone}>{name}</Badge>
}
