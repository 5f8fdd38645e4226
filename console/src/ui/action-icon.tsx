import type { Action } from '@promptledger/client'
import { GitCommitHorizontal, GitMerge, GitPullRequestArrow, GitPullRequestClosed } from 'lucide-react'

export const actions: Action[] = ['deployed', 'pr_merged', 'pr_opened', 'pr_closed']

export const actionLabels: Record<Action, string> = {
  deployed: 'Deployed',
  pr_merged: 'Merged',
  pr_opened: 'Opened',
  pr_closed: 'Closed',
}

const icons: Record<Action, typeof GitMerge> = {
  deployed: GitCommitHorizontal,
  pr_merged: GitMerge,
  pr_opened: GitPullRequestArrow,
  pr_closed: GitPullRequestClosed,
}

export function ActionIcon({ action }: { action: Action }) {
  const Icon = icons[action]
  return (
    <span className={`action-icon ${action}`} title={actionLabels[action]}>
      <Icon aria-hidden="true" />
      <span className="visually-hidden">{actionLabels[action]}</span>
    </span>
  )
}
