import { Link } from 'wouter'
import { titleOf } from '../prompt/entry-title.ts'
import { promptPath } from '../prompt/prompt-path.ts'
import { formatPercent } from '../ui/percent.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import type { LivePlace } from './live-places.ts'
import { useVersions } from './version-queries.ts'

const maxPlaces = 20

interface Props {
  promptId: string
  places: LivePlace[]
}

/** Which version every environment runs, with its share of the traffic. */
export function LiveWhere({ promptId, places }: Props) {
  const left = places.length - maxPlaces
  const versions = useVersions(promptId, { q: '', page: 1 })
  const titles = new Map(versions.data?.data.map(({ entry, message }) => [entry.id, titleOf(entry, message)]))
  return (
    <ul className="live-where" aria-label="Live versions by environment">
      {places.slice(0, maxPlaces).map(({ environment, isProduction, share, entryId, commitSha }) => (
        <li key={`${environment} ${commitSha}`} data-production={isProduction}>
          <span className="live-environment">
            {environment === null ? 'Merged' : <UntrustedText text={environment} />}
          </span>
          {share < 1 && <span>{formatPercent(share)} of traffic</span>}
          {entryId === null ? (
            <code>{commitSha.slice(0, 7)}</code>
          ) : (
            <Link href={`${promptPath(promptId)}/text?version=${entryId}`}>
              {titles.has(entryId) ? (
                <UntrustedText text={titles.get(entryId) ?? ''} />
              ) : (
                <code>{commitSha.slice(0, 7)}</code>
              )}
            </Link>
          )}
          {entryId === null && <span>no known version</span>}
        </li>
      ))}
      {left > 0 && <li>and {left} more</li>}
    </ul>
  )
}
