import type { RegressionState } from '@promptledger/client'
import { PageHead } from '../page-head.tsx'
import { UnexplainedShifts } from '../shifts/unexplained-shifts.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { useRegressions } from './regression-query.ts'
import { RegressionTable, sortFrom } from './regression-table.tsx'

type Filter = RegressionState | 'all'

const filters: { value: Filter; label: string }[] = [
  { value: 'open', label: 'Open' },
  { value: 'repaired', label: 'Repaired' },
  { value: 'dismissed', label: 'Dismissed' },
  { value: 'withdrawn', label: 'Withdrawn' },
  { value: 'all', label: 'All' },
]

/** The changes that made prompts worse, and the moves of rates that no change explains. */
export function RegressionsPage() {
  const [params, setParams] = useUrlParams()
  const selected = filters.find(({ value }) => value === params.get('state'))?.value ?? 'open'
  const sort = sortFrom(params)
  const state = selected === 'all' ? null : selected
  const regressions = useRegressions({ page: pageFrom(params), sort, ...(state !== null && { state }) })
  return (
    <>
      <PageHead title="Regressions">
        <ToggleGroup
          label="State"
          options={filters}
          isSelected={(filter) => filter === selected}
          onSelect={(filter) => setParams({ state: filter === 'open' ? null : filter, page: null })}
        />
      </PageHead>
      <RegressionTable
        query={regressions}
        state={state}
        sort={sort}
        onSort={(next) => setParams({ sort: next === '-opened_at' ? null : next, page: null })}
      />
      <UnexplainedShifts />
    </>
  )
}
