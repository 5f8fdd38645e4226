import type { Key } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

export type KeyStatus = 'active' | 'expires_soon' | 'expired' | 'revoked'

const soonMs = 7 * 86_400_000

export function statusOf({ revoked_at: revokedAt, expires_at: expiresAt }: Key, now: number): KeyStatus {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'active'
  const remainingMs = Date.parse(expiresAt) - now
  if (remainingMs <= 0) return 'expired'
  return remainingMs < soonMs ? 'expires_soon' : 'active'
}

export function isActive(status: KeyStatus): boolean {
  return status === 'active' || status === 'expires_soon'
}

const badges = {
  active: { tone: 'good', children: 'Active' },
  expires_soon: { tone: 'caution', children: 'Expires soon' },
  expired: { tone: 'plain', children: 'Expired' },
  revoked: { tone: 'plain', children: 'Revoked' },
} as const

export function KeyStatusBadge({ status }: { status: KeyStatus }) {
  return <Badge {...badges[status]} />
}
