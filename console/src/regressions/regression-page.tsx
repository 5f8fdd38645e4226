import { NotFoundError, type Regression, type RegressionDetails } from '@promptledger/client'
import { Link, useLocation } from 'wouter'
import { AlertDeliveryBadge } from '../alerts/alert-status.tsx'
import { channelLabels } from '../alerts/channels.ts'
import { eventLabels } from '../alerts/events.ts'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { SubjectHead, usePageTitle } from '../page-head.tsx'
import { ChangeDiff } from '../prompt/change-diff.tsx'
import { ChangeLift } from '../prompt/change-lift.tsx'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { LoadedChart, useChart } from '../prompt/loaded-chart.tsx'
import { changePath, promptPath } from '../prompt/prompt-path.ts'
import { useShowsSignals } from '../shared/shared-query.ts'
import { isShared } from '../shared/token.ts'
import { ChangeSegments } from '../signals/change-segments.tsx'
import { NegativeComments } from '../signals/negative-comments.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { existing, LoadError, PageState } from '../ui/load-state.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Action } from '../versions/prompt-head.tsx'
import { Dismiss } from './dismiss-dialog.tsx'
import { UndoActions } from './propose-revert.tsx'
import { RegressionChange } from './regression-change.tsx'
import { RegressionHistory } from './regression-history.tsx'
import { useRegression } from './regression-query.ts'
import { liveSince, openTimeOf, PromptBreadcrumbs, RegressionStateBadge, ratesOf } from './regression-words.tsx'
import { TriageSection } from './triage.tsx'

interface Props {
  promptId: string
  id: number
  canDismiss: boolean
}

/** One change that made a prompt worse. The links in messages lead here. */
export function RegressionPage({ promptId, id, canDismiss }: Props) {
  const regression = useRegression(promptId, id)
  usePageTitle(regression.data === undefined ? 'Regression' : `Regression of ${regression.data.prompt.name}`)
  const data = existing(regression)
  if (!Number.isInteger(id)) return <NotFoundPage />
  if (data === undefined) return <PageState query={regression} what="the regression" />
  return (
    <>
      <Head regression={data} canDismiss={canDismiss} />
      <ChangeAndHistory regression={data} />
      <TriageSection
        subject={data}
        canEdit={canDismiss}
        update={(change) => ledger.regressions.update(data.prompt.id, data.id, change)}
      />
      <section aria-labelledby="told" className="page-section">
        <h2 id="told">Who was told</h2>
        <ToldTable regression={data} />
      </section>
    </>
  )
}

function Head({ regression, canDismiss }: { regression: RegressionDetails; canDismiss: boolean }) {
  const { prompt, state, change } = regression
  return (
    <SubjectHead
      breadcrumbs={<PromptBreadcrumbs prompt={prompt} />}
      title={`Regression: ${ratesOf(regression)} positive`}
      badge={<RegressionStateBadge state={state} />}
      ids={
        <>
          <span>
            {state === 'open' ? 'Open for' : 'Was open for'} {openTimeOf(regression)}
          </span>
          <CopyableId id={prompt.id} what="prompt ID" />
          <span className="copyable-id">
            Regression <CopyableId id={regression.id} what="regression ID" />
          </span>
        </>
      }
    >
      <div className="page-actions">
        {canDismiss && <Action opens="share">Share</Action>}
        {state === 'open' && canDismiss && <UndoActions regression={regression} />}
        {state === 'open' && change.pr_url !== null && (
          <ExternalLink className={canDismiss ? 'text-button' : 'button primary'} to={change.pr_url}>
            Open pull request #{change.pr_number}
          </ExternalLink>
        )}
        {state === 'open' && canDismiss && (
          <Dismiss what="regression" dismiss={(body) => ledger.regressions.dismiss(prompt.id, regression.id, body)}>
            For a loss that you accept. The same change does not open a regression again. People are not told, but open
            incidents in PagerDuty are resolved, and issues in Linear closed.
          </Dismiss>
        )}
      </div>
    </SubjectHead>
  )
}

/** The change, what it did to the feedback, and what it did to the text: everything that decides whether to revert it. */
export function ChangeAndHistory({ regression }: { regression: Regression }) {
  const { prompt, change } = regression
  const item = useTimelineEntry(prompt.id, change.id)
  const showsSignals = useShowsSignals()
  // The regression itself names a change that is no longer part of the history.
  const isGone = item.error instanceof NotFoundError
  return (
    <>
      <RegressionChange regression={regression} item={item.data ?? null} />
      {item.isError && !isGone && <LoadError error={item.error} retry={item.refetch} />}
      <RegressionChart regression={regression} />
      {!isGone && (
        <div className="regression-evidence">
          <section className="card change-diff" aria-labelledby="diff">
            <h2 id="diff">
              Change
              {!isShared && <Link href={`${promptPath(prompt.id)}/compare?b=${change.id}`}>Compare side by side</Link>}
            </h2>
            <ChangeDiff promptId={prompt.id} entryId={change.id} />
          </section>
          <div className="card">
            {item.data?.impact && <ChangeLift promptId={prompt.id} entryId={change.id} impact={item.data.impact} />}
            {showsSignals && <NegativeComments promptId={prompt.id} entryId={change.id} />}
            {!isShared && <ChangeSegments promptId={prompt.id} entryId={change.id} />}
          </div>
        </div>
      )}
      <section aria-labelledby="history" className="page-section">
        <h2 id="history">What happened</h2>
        <RegressionHistory regression={regression} />
      </section>
    </>
  )
}

/** The feedback before and after the change that made the prompt worse. */
function RegressionChart({ regression }: { regression: Regression }) {
  const { prompt, change } = regression
  const [, navigate] = useLocation()
  const state = useChart(prompt.id, change.id, liveSince(regression))
  const open = (id: number) => !isShared && navigate(changePath(prompt.id, id))
  return <LoadedChart state={state} promptName={prompt.name} onOpen={open} />
}

type Told = RegressionDetails['told'][number]

const columns: Column<Told & { key: number }>[] = [
  { header: 'To', cell: (told) => <Recipient {...told} /> },
  { header: 'Event', cell: ({ event }) => eventLabels[event] },
  { header: 'State', cell: ({ state }) => <AlertDeliveryBadge state={state} /> },
  { header: 'Time', className: 'nowrap', cell: (told) => <Time at={told.finished_at ?? told.created_at} /> },
]

const uncertain = 'No alert yet: the evidence is not strong enough to tell people.'
const waiting = 'No alert yet: none matches this prompt, or the regression has not lasted long enough.'

function ToldTable({ regression: { told, state, certain_enough: isCertain } }: { regression: RegressionDetails }) {
  const none = (
    <p className="card muted">{state === 'open' ? (isCertain ? waiting : uncertain) : 'No alert was told.'}</p>
  )
  return (
    <Table
      caption="Who was told, newest first"
      columns={columns}
      rows={told.map((each, key) => ({ ...each, key }))}
      rowKey={({ key }) => key}
      empty={none}
    />
  )
}

function Recipient({ destination, alert }: Told) {
  if (destination === 'pull_request') return 'Pull request'
  if (alert === null) return <span className="muted">Removed alert</span>
  return (
    <div>
      <UntrustedText text={alert.name} />
      <span className="cell-note muted">{channelLabels[alert.channel]}</span>
    </div>
  )
}
