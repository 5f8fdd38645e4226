import type { Page, Trial, TrialState } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { EmptyState } from '../ui/empty-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { PagedTable } from '../ui/paged-table.tsx'
import { PromptName } from '../ui/prompt-name.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { NoTrials } from './no-trials.tsx'
import { trialPath } from './trial-query.ts'
import { formatShare, servedShare, TrialStateBadge, TrialVerdict } from './trial-words.tsx'

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

interface Props {
  query: UseQueryResult<Page<Trial>>
  /** The state of all rows; null if it differs. */
  state: TrialState | null
  isAdmin: boolean
}

export function TrialTable({ query, state, isAdmin }: Props) {
  return (
    <PagedTable
      query={query}
      noun="trials"
      caption="Trials"
      columns={columns}
      rowKey={({ id }) => id}
      empty={state === null ? <NoTrials isAdmin={isAdmin} /> : <EmptyState title={`No ${state} trials`} />}
    />
  )
}

/** The pull request, or the commit. */
export function Candidate({ trial: { pr_number: pull, commit_sha: commit } }: { trial: Trial }) {
  return pull === null ? <code>{commit.slice(0, 7)}</code> : `#${pull}`
}
