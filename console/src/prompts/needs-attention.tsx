import type { Regression, Shift } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { errorMessage } from '../query-client.ts'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/number.ts'
import { RequestId } from '../ui/request-id.tsx'
import { limitLevel } from '../usage/plan.ts'
import { useUsage } from '../usage/usage-query.ts'
import { AlertItem, LimitItem, RegressionItem, RepositoryItem, ShiftItem } from './attention-items.tsx'
import {
  useFailingAlerts,
  useFirstRepositories,
  useMyRegressions,
  useMyShifts,
  useRecentShifts,
  useWorstRegressions,
} from './attention-queries.ts'

const maxItems = 5

interface Props {
  isAdmin: boolean
  /** The address of the person who looks, if it is known. */
  email: string | null
  calm: ReactNode
}

/** Those of the person who looks, then the others; of each, those that no one has taken on first, in the given order. */
function mineFirst<Item extends Regression | Shift>(mine: Item[], all: Item[]): Item[] {
  const isQuiet = ({ acknowledged_at: at, snoozed_until: until }: Item) =>
    at !== null || (until !== null && Date.parse(until) > Date.now())
  const loudFirst = (list: Item[]) => list.toSorted((a, b) => Number(isQuiet(a)) - Number(isQuiet(b)))
  const isMine = new Set(mine.map(({ id }) => id))
  return [...loudFirst(mine), ...loudFirst(all.filter(({ id }) => !isMine.has(id)))]
}

/** Current problems, the worst first, or `calm` if there are none. Each part loads, and fails, on its own. */
export function NeedsAttention({ isAdmin, email, calm }: Props) {
  const regressions = useWorstRegressions()
  const mine = useMyRegressions(email)
  const listed = mineFirst(mine.data?.data ?? [], regressions.data?.data ?? [])
  const shifts = useRecentShifts()
  const listedShifts = mineFirst(useMyShifts(email).data?.data ?? [], shifts.data?.data ?? [])
  const repositories = useFirstRepositories(isAdmin)
  const failing = repositories.data?.filter(({ state }) => state === 'failing') ?? []
  const alerts = useFailingAlerts(isAdmin)
  const usage = useUsage()
  const parts = { regressions, shifts, usage, ...(isAdmin && { repositories, alerts }) }
  const isLimited = usage.data !== undefined && limitLevel(usage.data) !== 'ok'
  const isCalm =
    Object.values(parts).every(({ data }) => data !== undefined) &&
    [regressions.data?.data, shifts.data?.data, failing, alerts.data].every((items) => !items?.length) &&
    !isLimited
  if (isCalm) return calm
  if (Object.values(parts).every(({ isPending }) => isPending)) return <p className="attention-none">Checking…</p>
  return (
    <section className="attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {isLimited && <LimitItem usage={usage.data} />}
        {listed.map((regression) => (
          <RegressionItem key={regression.id} regression={regression} />
        ))}
        <More total={regressions.data?.pagination.total_count} shown={listed.length}>
          {(total) => <Link href="/regressions">All {countOf(total, 'open regression')}</Link>}
        </More>
        {listedShifts.map((shift) => (
          <ShiftItem key={shift.id} shift={shift} />
        ))}
        <More total={shifts.data?.pagination.total_count} shown={listedShifts.length}>
          {(total) => <Link href="/regressions">All {countOf(total, 'unexplained shift')}</Link>}
        </More>
        {failing.slice(0, maxItems).map((repository) => (
          <RepositoryItem key={repository.id} repository={repository} />
        ))}
        <More total={failing.length} shown={maxItems}>
          {(total) => (
            <Link href="/repositories">All {countOf(total, 'failing repository', 'failing repositories')}</Link>
          )}
        </More>
        {alerts.data?.slice(0, maxItems).map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
        <More total={alerts.data?.length} shown={maxItems}>
          {(total) => <Link href="/alerts">All {countOf(total, 'alert')} that reach no one</Link>}
        </More>
        {Object.entries(parts).map(([what, query]) => (
          <Failed key={what} what={what} query={query} />
        ))}
      </ul>
    </section>
  )
}

interface MoreProps {
  total: number | undefined
  shown: number | undefined
  children: (total: number) => ReactNode
}

function More({ total = 0, shown = 0, children }: MoreProps) {
  return total > shown ? <li className="attention-more">{children(total)}</li> : null
}

function Failed({ what, query }: { what: string; query: UseQueryResult<unknown> }) {
  // A later failure is the connection's: the items on screen stay.
  if (!query.isLoadingError) return null
  return (
    <li className="attention-failed" role="alert">
      <span>
        The {what} could not be loaded: {errorMessage(query.error)}
        <RequestId error={query.error} />
      </span>
      <Button onClick={() => query.refetch()}>Try again</Button>
    </li>
  )
}
