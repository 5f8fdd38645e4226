import type { ShiftDetails } from '@promptledger/client'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { SubjectHead, usePageTitle } from '../page-head.tsx'
import { LoadedChart, useChart } from '../prompt/loaded-chart.tsx'
import { changePath } from '../prompt/prompt-path.ts'
import { Dismiss } from '../regressions/dismiss-dialog.tsx'
import { PromptBreadcrumbs, RegressionStateBadge } from '../regressions/regression-words.tsx'
import { TriageSection } from '../regressions/triage.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { existing, PageState } from '../ui/load-state.tsx'
import { formatShares } from '../ui/percent.ts'
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
  const data = existing(shift)
  if (data === undefined) return <PageState query={shift} what="the shift" />
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
  const { id, prompt, state } = shift
  return (
    <SubjectHead
      breadcrumbs={<PromptBreadcrumbs prompt={prompt} />}
      title={`Shift: ${formatShares(shift.rate_before, shift.rate_after)} positive`}
      badge={state !== null && <RegressionStateBadge state={state} />}
      ids={
        <>
          <CopyableId id={prompt.id} what="prompt ID" />
          <CopyableId id={id} what="shift ID" />
        </>
      }
    >
      {state === 'open' && canEdit && (
        <div className="page-actions">
          <Dismiss what="shift" dismiss={(body) => ledger.shifts.dismiss(prompt.id, id, body)}>
            For a shift that you expected, such as new users or another model.
          </Dismiss>
        </div>
      )}
    </SubjectHead>
  )
}

function ShiftChart({ shift: { prompt, at } }: { shift: ShiftDetails }) {
  const [, navigate] = useLocation()
  const state = useChart(prompt.id, null, at)
  return <LoadedChart state={state} promptName={prompt.name} onOpen={(id) => navigate(changePath(prompt.id, id))} />
}
