import type { HistoryEntry } from '@promptledger/client'
import { titleOf } from '../prompt/entry-title.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'

/** The title of the change that made the version. */
export function VersionTitle({ entry, message }: { entry: HistoryEntry; message: string | null | undefined }) {
  return <UntrustedText text={titleOf(entry, message ?? null)} />
}

interface Props {
  entry: HistoryEntry
  commitUrl: string | null | undefined
  /** Leaves the commit and the time of the day out. */
  isShort?: boolean
}

/** Who made the version, when, and by which pull request and commit. */
export function VersionFacts({ entry, commitUrl, isShort = false }: Props) {
  const sha = <code>{entry.commit_sha.slice(0, 7)}</code>
  return (
    <p className="version-facts muted">
      <span title={visibleText(entry.user.email)}>
        <UntrustedText text={entry.user.name} />
      </span>
      <Time at={entry.created_at} as={isShort ? 'date' : 'full'} />
      {entry.pr_url !== null && <ExternalLink to={entry.pr_url}>#{entry.pr_number}</ExternalLink>}
      {!isShort && (
        <span className="copyable-id">
          {commitUrl == null ? sha : <ExternalLink to={commitUrl}>{sha}</ExternalLink>}
          <CopyButton value={entry.commit_sha} label="Copy the commit SHA" />
        </span>
      )}
    </p>
  )
}
