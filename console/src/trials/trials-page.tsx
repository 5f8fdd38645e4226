import type { SessionInfo, Trial, TrialState } from '@promptledger/client'
import { FlaskConical } from 'lucide-react'
import { Link } from 'wouter'
import { PageHead } from '../page-head.tsx'
import { canRunTrials } from '../sessions/rights.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { PagedTable } from '../ui/paged-table.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { trialPath, useTrials } from './trial-query.ts'
import { formatShare, servedShare, TrialStateBadge, TrialVerdict } from './trial-words.tsx'
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
      <PagedTable
        query={trials}
        noun="trials"
        caption="Trials"
        columns={columns}
        rowKey={({ id }) => id}
        empty={state === null ? <NoTrials isAdmin={isAdmin} /> : <EmptyState title={`No ${state} trials`} />}
      />
      {canTry && params.has('try') && (
        <TryPull isAdmin={isAdmin} onClose={() => setParams({ try: null }, { replace: true })} />
      )}
    </>
  )
}

/** Says what a trial is, and what it needs. */
function NoTrials({ isAdmin }: { isAdmin: boolean }) {
  return (
    <EmptyState title="No trials yet">
      <p>
        A trial serves a pull request to a share of your users, chosen at random, before you merge it. Their votes are
        compared with those of everyone else at the same time. A candidate that is worse is stopped within 30 seconds.
      </p>
      <ol className="trial-needs">
        <li>
          {isAdmin ? (
            <>
              Turn on text delivery in the <Link href="/settings">settings</Link>.
            </>
          ) : (
            'An admin turns on text delivery in the settings.'
          )}
        </li>
        <li>
          Your application fetches each text with the user or conversation as <code>unit</code>, using a key with the
          role <code>delivery</code>.
        </li>
        <li>
          Its votes name the <code>version</code> that it got, and the unit as <code>voter</code>.
        </li>
      </ol>
      <p>Then try a pull request here, or from the command line:</p>
      <CodeBlock code="promptledger try 41 --share 10%" what="command" />
    </EmptyState>
  )
}

const columns: Column<Trial>[] = [
  {
    header: 'Prompt',
    cell: (trial) => (
      <Link className="row-link" href={trialPath(trial)}>
        <PromptName name={trial.prompts[0]?.name ?? 'Deleted prompt'} />
        {trial.prompts.length > 1 && ` and ${trial.prompts.length - 1} more`}
      </Link>
    ),
  },
  { header: 'Candidate', className: 'nowrap', cell: (trial) => <Candidate trial={trial} /> },
  { header: 'Share', className: 'number', align: 'right', cell: (trial) => formatShare(servedShare(trial)) },
  { header: 'State', cell: ({ state }) => <TrialStateBadge state={state} /> },
  { header: 'Verdict', cell: (trial) => <TrialVerdict {...trial} /> },
  {
    header: 'Voters',
    align: 'right',
    cell: ({ control, candidate }) => formatNumber(control.voters + candidate.voters),
  },
  { header: 'Started', className: 'nowrap', cell: ({ started_at: at }) => <Time at={at} as="date" /> },
]

/** The pull request, or the commit. */
function Candidate({ trial: { pr_number: pull, commit_sha: commit } }: { trial: Trial }) {
  return pull === null ? <code>{commit.slice(0, 7)}</code> : `#${pull}`
}
