import type { SessionInfo, TrialState } from '@promptledger/client'
import { FlaskConical } from 'lucide-react'
import { Link } from 'wouter'
import { PageHead } from '../page-head.tsx'
import { canRunTrials } from '../sessions/rights.ts'
import { Button } from '../ui/button.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { useTrials } from './trial-query.ts'
import { TrialTable } from './trial-table.tsx'
import { TryPull } from './try-pull.tsx'

type Filter = TrialState | 'all'

const filters: { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'running', label: 'Running' },
  { value: 'paused', label: 'Paused' },
  { value: 'ended', label: 'Ended' },
]

/** The pull requests that some users get, or got, before they are merged. */
export function TrialsPage({ session: { key } }: { session: SessionInfo }) {
  const [params, setParams] = useUrlParams()
  const selected = filters.find(({ value }) => value === params.get('state'))?.value ?? 'all'
  const state = selected === 'all' ? null : selected
  const prompt = params.get('prompt')
  const trials = useTrials({
    page: pageFrom(params),
    ...(state !== null && { state }),
    ...(prompt !== null && { prompt }),
  })
  const isAdmin = key.role === 'admin'
  const canTry = canRunTrials(key)
  return (
    <>
      <PageHead title="Trials">
        <div className="page-actions">
          <ToggleGroup
            label="State"
            options={filters}
            isSelected={(filter) => filter === selected}
            onSelect={(filter) => setParams({ state: filter === 'all' ? null : filter, page: null })}
          />
          {canTry && (
            <Button kind="primary" onClick={() => setParams({ try: '1' })}>
              <FlaskConical aria-hidden="true" />
              Try a pull request
            </Button>
          )}
        </div>
      </PageHead>
      {prompt !== null && (
        <p className="trial-filter">
          Trials of one prompt. <Link href="/trials">Show all</Link>
        </p>
      )}
      <TrialTable query={trials} state={state} isAdmin={isAdmin} />
      {canTry && params.has('try') && (
        <TryPull isAdmin={isAdmin} onClose={() => setParams({ try: null }, { replace: true })} />
      )}
    </>
  )
}
