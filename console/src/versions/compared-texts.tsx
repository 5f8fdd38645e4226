import { useMemo, useState } from 'react'
import { DiffRow } from '../prompt/diff.tsx'
import { DiffChanges } from '../prompt/diff-changes.tsx'
import { diffTexts, type Row, replaceTexts } from '../prompt/text-diff.ts'
import { Button } from '../ui/button.tsx'
import { useIsPhone } from '../ui/media-query.ts'
import { Notice } from '../ui/notice.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { useUrlParams } from '../url-params.ts'
import { SplitDiff, splitRows } from './split-diff.tsx'

// A longer diff would block the browser for seconds.
const maxCharacters = 4 * 1024 * 1024
const rowsPerStep = 500
const views = [
  { value: null, label: 'Side by side' },
  { value: 'unified', label: 'Unified' },
] as const

interface Props {
  before: string
  after: string
}

/** How one text differs from another, by line and by word. */
export function ComparedTexts({ before, after }: Props) {
  const length = before.length + after.length
  if (before === after) return <Notice>Both versions have the same text.</Notice>
  if (length <= maxCharacters) return <Differences before={before} after={after} />
  return (
    <Notice tone="caution">
      These texts are too long to compare here: together they have {formatNumber(length)} characters, and the limit is{' '}
      {formatNumber(maxCharacters)}. Download both from the page Text and compare them on your machine.
    </Notice>
  )
}

function Differences({ before, after }: Props) {
  const compared = useMemo(() => diffTexts(before, after), [before, after])
  const rows = useMemo(() => compared ?? replaceTexts(before, after), [compared, before, after])
  return (
    <>
      {compared === null && (
        <Notice tone="caution">
          These texts differ too much to compare them line by line within one second. Between the lines that both begin
          and end with, the old and the new text are shown in full.
        </Notice>
      )}
      <Rows rows={rows} />
    </>
  )
}

function Rows({ rows }: { rows: Row[] }) {
  const [params, setParams] = useUrlParams()
  const [shown, setShown] = useState(rowsPerStep)
  const isPhone = useIsPhone()
  // Two columns would be too narrow on a phone.
  const isSplit = !isPhone && params.get('view') !== 'unified'
  const split = useMemo(() => (isSplit ? splitRows(rows) : []), [rows, isSplit])
  const left = (isSplit ? split.length : rows.length) - shown
  const count = (kind: Row['kind']) => rows.filter((row) => row.kind === kind).length
  return (
    <>
      <div className="compare-bar">
        <span className="muted">
          {countOf(count('added'), 'line')} added, {countOf(count('removed'), 'line')} removed
        </span>
        {!isPhone && (
          <ToggleGroup
            label="View"
            options={views}
            isSelected={(view) => (view === 'unified') !== isSplit}
            onSelect={(view) => setParams({ view })}
          />
        )}
      </div>
      <DiffChanges rows={rows}>
        {isSplit ? (
          <SplitDiff rows={split.slice(0, shown)} />
        ) : (
          <div className="diff">
            {rows.slice(0, shown).map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
              <DiffRow key={i} row={row} />
            ))}
          </div>
        )}
      </DiffChanges>
      {left > 0 && (
        <Button className="show-older" onClick={() => setShown(shown + rowsPerStep)}>
          Show more of the diff ({countOf(left, 'row')} left)
        </Button>
      )}
    </>
  )
}
