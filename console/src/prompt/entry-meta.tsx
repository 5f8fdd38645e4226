import type { TimelineEntry } from '@promptledger/client'
import type { ReactNode } from 'react'
import { actionLabels } from '../ui/action-icon.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'

/** Who made a change, when, and where it is in git. */
export function EntryMeta({ item, children }: { item: TimelineEntry; children?: ReactNode }) {
  const { entry, commit_url: commitUrl } = item
  const commit = <code>{entry.commit_sha.slice(0, 7)}</code>
  return (
    <p className="timeline-meta">
      <span title={visibleText(entry.user.email)}>
        <UntrustedText text={entry.user.name} />
      </span>
      <Time at={entry.created_at} />
      {entry.pr_url !== null && <ExternalLink to={entry.pr_url}>#{entry.pr_number}</ExternalLink>}
      {commitUrl === null ? commit : <ExternalLink to={commitUrl}>{commit}</ExternalLink>}
      <code>
        <UntrustedText text={entry.branch_name} />
      </code>
      {children}
    </p>
  )
}

/** What happened, and since when its pull request was open. */
export function PullCourse({ item: { entry, pull } }: { item: TimelineEntry }) {
  const opened = pull?.opened
  return (
    <span>
      {actionLabels[entry.action]}
      {opened != null && opened.entry_id !== entry.id && (
        <>
          , opened <Time at={opened.created_at} as="date" />
        </>
      )}
    </span>
  )
}
