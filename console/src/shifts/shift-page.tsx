import { NotFoundError, type ShiftDetails } from '@promptledger/client'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { LoadedChart, useChart } from '../prompt/loaded-chart.tsx'
import { changePath, promptPath } from '../prompt/prompt-path.ts'
import { DismissDialog } from '../regressions/dismiss-dialog.tsx'
import { RegressionStateBadge } from '../regressions/regression-state.tsx'
import { TriageSection } from '../regressions/triage.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { formatShares } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useShift } from './shift-query.ts'
import { PossibleCause } from './unexplained-shifts.tsx'

interface Props {
  promptId: string
  id: string
  canEdit: boolean
}

/** One move of a rate that no single change explains. The links in messages lead here. */
export function ShiftPage({ promptId, id, canEdit }: Props) {
  const shift = useShift(promptId, id)
  usePageTitle(shift.data === undefined ? 'Shift' : `Shift of ${shift.data.prompt.name}`)
  if (shift.error instanceof NotFoundError) return <NotFoundPage />
  if (shift.isLoadingError) return <LoadError error={shift.error} retry={shift.refetch} />
  if (shift.isPending) return <Loading what="the shift" />
  const { data } = shift
  return (
    <>
      <Head shift={data} canEdit={canEdit} />
      <div className="card">
        <p>{data.explanation}</p>
        {data.candidates !== null && <PossibleCause {...data} />}
        {data.note !== null && (
          <p>
            Dismissed with the key “<UntrustedText text={data.dismissed_by ?? ''} />
            ”: <UntrustedText text={data.note} />
          </p>
        )}
      </div>
      <ShiftChart shift={data} />
      <TriageSection
        subject={data}
        canEdit={canEdit}
        update={(change) => ledger.shifts.update(data.prompt.id, data.id, change)}
      />
    </>
  )
}

function Head({ shift, canEdit }: { shift: ShiftDetails; canEdit: boolean }) {
  const [isDismissing, setIsDismissing] = useState(false)
  const { id, prompt, state } = shift
  return (
    <div className="page-head">
      <div>
        <nav className="breadcrumbs" aria-label="Breadcrumbs">
          <Link href="/regressions">Regressions</Link>
          <Link href={promptPath(prompt.id)}>
            <PromptName name={prompt.name} />
          </Link>
        </nav>
        <div className="title-with-badge">
          <h1>Shift: {formatShares(shift.rate_before, shift.rate_after)} positive</h1>
          {state !== null && <RegressionStateBadge state={state} />}
        </div>
        <div className="prompt-head-ids muted">
          <CopyableId id={prompt.id} what="prompt ID" />
          <CopyableId id={id} what="shift ID" />
        </div>
      </div>
      {state === 'open' && canEdit && (
        <div className="page-actions">
          <button type="button" className="text-button" onClick={() => setIsDismissing(true)}>
            Dismiss
          </button>
        </div>
      )}
      {isDismissing && (
        <DismissDialog
          what="shift"
          dismiss={(body) => ledger.shifts.dismiss(prompt.id, id, body)}
          onClose={() => setIsDismissing(false)}
        >
          For a shift that you expected, such as new users or another model.
        </DismissDialog>
      )}
    </div>
  )
}

function ShiftChart({ shift: { prompt, at } }: { shift: ShiftDetails }) {
  const [, navigate] = useLocation()
  const state = useChart(prompt.id, null, at)
  return <LoadedChart state={state} promptName={prompt.name} onOpen={(id) => navigate(changePath(prompt.id, id))} />
}
