import type { SignalFilter } from '@promptledger/client'
import { EmptyState } from '../ui/empty-state.tsx'
import { isFiltered } from './signal-filter.ts'

/** Why the list is empty, and what to do about it. */
export function NoSignals({ filter }: { filter: SignalFilter }) {
  const { change, side, ...others } = filter
  if (change !== undefined && !isFiltered(others)) {
    return (
      <EmptyState title={`No signals ${side} this change`}>
        {side === 'before' ? (
          <p>It is the first change that went live, or no signal counted for the one before it.</p>
        ) : (
          <p>No signal names this version, and none arrived without a version while it was live.</p>
        )}
      </EmptyState>
    )
  }
  if (isFiltered(filter)) {
    return (
      <EmptyState title="No matching signals">
        <p>No signal matches these filters. Remove one, or clear them to see all signals.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No signals yet">
      <p>
        Send a signal from your application when a user rates an output of this prompt. An ingest key is enough, and{' '}
        <em>Send signals</em> above has the code.
      </p>
    </EmptyState>
  )
}
