import type { PromptSort } from '@promptledger/client'

const labels: Partial<Record<PromptSort, string>> = {
  regression: 'Worst first',
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  '-last_change': 'Newest change',
  last_change: 'Oldest change',
  '-signals': 'Most signals',
  signals: 'Fewest signals',
  positive_share: 'Lowest positive share',
  '-positive_share': 'Highest positive share',
  effect: 'Effect, worst first',
  '-effect': 'Effect, best first',
}

/** The order in words. On a phone, where tables have no header, it is the only way to sort. */
export function SortField({ sort, onSort }: { sort: PromptSort; onSort: (sort: PromptSort) => void }) {
  return (
    <select
      className="sort-field"
      aria-label="Sort prompts"
      value={sort}
      onChange={({ target }) => onSort(target.value as PromptSort)}
    >
      {Object.entries(labels).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
