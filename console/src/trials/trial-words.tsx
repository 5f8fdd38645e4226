import type { Trial, TrialEnding } from '@promptledger/client'
import { Pause, Play, Square, TriangleAlert } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'
import { formatPercent } from '../ui/percent.ts'
import { PlainVerdict } from '../ui/verdict.tsx'

const badges = {
  running: { tone: 'good', icon: Play, children: 'Running' },
  paused: { tone: 'caution', icon: Pause, children: 'Paused' },
  ended: { tone: 'plain', icon: Square, children: 'Ended' },
} as const

export const endings: Record<TrialEnding, string> = {
  worse: 'the candidate was worse',
  live: 'the candidate is live',
  closed: 'the pull request was closed',
  requested: 'someone ended it',
  gone: 'a prompt was deleted or is no longer delivered',
}

export function TrialStateBadge({ state }: Pick<Trial, 'state'>) {
  return <Badge {...badges[state]} />
}

export function TrialVerdict({ verdict, mismatch, state }: Trial) {
  if (mismatch) {
    return (
      <Badge tone="caution" icon={TriangleAlert}>
        Cannot be judged
      </Badge>
    )
  }
  if (verdict === null && state === 'ended') return <span className="muted">None</span>
  return <PlainVerdict verdict={verdict ?? 'too_little_data'} />
}

/** In a word or two, for a link. */
export function outcomeOf({ verdict, mismatch, state }: Trial): string {
  if (mismatch) return 'cannot be judged'
  return verdict ?? (state === 'ended' ? 'no verdict' : state)
}

/** What is tried: `#41`, or a short commit. */
export function candidateOf({ pr_number: pull, commit_sha: commit }: Trial): string {
  return pull === null ? commit.slice(0, 7) : `#${pull}`
}

/** The part of the units that gets the candidate now. */
export function servedShare({ state, share }: Trial): number {
  return state === 'running' ? share : 0
}

/** A share may be smaller than 1%: `0.5%`. */
export function formatShare(share: number): string {
  const percent = share * 100
  return Number.isInteger(Math.round(percent * 1e6) / 1e6) ? formatPercent(share) : `${Number(percent.toPrecision(3))}%`
}
