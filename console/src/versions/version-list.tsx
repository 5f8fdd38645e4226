import { Link } from 'wouter'
import { SearchField } from '../prompts/search-field.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { Pager } from '../ui/pager.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { VersionTitle } from './version-facts.tsx'
import { useVersions } from './version-queries.ts'

interface Props {
  promptId: string
  /** The version that is shown. */
  selected: number | null
  q: string
  page: number
  onSearch: (q: string) => void
  onPage: (page: number) => void
  /** Where choosing a version leads. */
  hrefOf: (entryId: number) => string
}

/** The versions that went live, newest first, to choose one from. */
export function VersionList({ promptId, selected, q, page, onSearch, onPage, hrefOf }: Props) {
  const versions = useVersions(promptId, { q, page })
  const { data: rows, pagination } = versions.data ?? {}
  return (
    <div className="version-list">
      <SearchField query={q} onSearch={onSearch} label="Search versions" placeholder="Title, author, commit or #PR" />
      <LoadState query={versions} what="versions" />
      {rows?.length === 0 && (
        <p className="muted small">{q === '' ? 'No version went live yet.' : 'No version matches this search.'}</p>
      )}
      <ol>
        {rows?.map(({ entry, message, live }) => (
          <li key={entry.id}>
            <Link href={hrefOf(entry.id)} aria-current={entry.id === selected ? 'true' : undefined}>
              <span className="version-title">
                {live !== null && <span className="live-badge">Live</span>}{' '}
                <VersionTitle entry={entry} message={message} />
              </span>
              <span className="version-note">
                <Time at={entry.created_at} as="date" />
                <UntrustedText text={entry.user.name} />
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {versions.data?.complete === false && (
        <p className="muted small">Only the newest 5,000 versions were searched.</p>
      )}
      {pagination !== undefined && <Pager pagination={pagination} noun="versions" onPage={onPage} />}
    </div>
  )
}
