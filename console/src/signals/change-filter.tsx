import { Link } from 'wouter'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { changePath } from '../prompt/prompt-path.ts'
import { formatDate } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import type { SetParams } from '../url-params.ts'
import { changeLabel } from './change-label.ts'
import { FilterChip } from './filter-chip.tsx'
import type { ChangeSide } from './signals-path.ts'

interface Props {
  promptId: string
  change: string
  side: ChangeSide
  onChange: SetParams
}

const sideNames = { before: 'Before', after: 'After' }

/** The change whose signals are listed. Its name leads to the change. */
export function ChangeFilter({ promptId, change, side, onChange }: Props) {
  const id = Number(change)
  const { data } = useTimelineEntry(promptId, Number.isSafeInteger(id) && id > 0 ? id : null)
  const other = side === 'before' ? 'after' : 'before'
  const at = data === undefined ? null : (data.impact?.live_from ?? data.entry.created_at)
  return (
    <>
      <FilterChip
        removeLabel="Remove the filter on this change"
        onRemove={() => onChange({ change: null, side: null })}
      >
        {sideNames[side]}{' '}
        {data === undefined || at === null ? (
          `change ${change}`
        ) : (
          <Link href={changePath(promptId, id)}>
            <UntrustedText text={changeLabel(data.entry)} />, {formatDate(new Date(at))}
          </Link>
        )}
      </FilterChip>
      <button type="button" className="text-button" onClick={() => onChange({ side: other })}>
        Show {other}
      </button>
    </>
  )
}
