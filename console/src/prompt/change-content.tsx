import type { Regression, TimelineEntry } from '@promptledger/client'
import { Link } from 'wouter'
import { ratesOf, regressionPath } from '../regressions/open-regressions.tsx'
import { useShowsSignals } from '../shared/shared-query.ts'
import { isShared } from '../shared/token.ts'
import { ChangeSegments } from '../signals/change-segments.tsx'
import { NegativeComments } from '../signals/negative-comments.tsx'
import { ActionIcon } from '../ui/action-icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { PageLink } from '../ui/page-link.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { ChangeDiff } from './change-diff.tsx'
import { ChangeFigures } from './change-figures.tsx'
import { ChangeLift } from './change-lift.tsx'
import { parseMessage } from './commit-message.ts'
import { EntryMeta, PullCourse } from './entry-meta.tsx'
import { titleOf } from './entry-title.ts'
import { LiveTimes } from './live-times.tsx'
import { promptPath } from './prompt-path.ts'

interface Props {
  promptId: string
  item: TimelineEntry
  /** The open regression that the change caused. */
  regression: Regression | null
}

/** Everything about a change that decides what to do about it. */
export function ChangeContent({ promptId, item, regression }: Props) {
  const { entry, impact } = item
  const { body } = parseMessage(item.message)
  const showsSignals = useShowsSignals()
  return (
    <>
      <header className="change-head">
        <h2>
          <ActionIcon action={entry.action} />
          <span>
            <UntrustedText text={titleOf(entry, item.message)} />
          </span>
        </h2>
        {impact !== null && <Verdict verdict={impact.verdict} isFirst={impact.first_version} />}
        <EntryMeta item={item}>
          <PullCourse item={item} />
        </EntryMeta>
      </header>
      {regression !== null && (
        <Notice tone="bad">
          <PageLink href={regressionPath(regression)}>Open regression: {ratesOf(regression)}</PageLink>.
          {!isShared && ' Fix it, revert it, or dismiss it there.'}
        </Notice>
      )}
      {impact !== null && <ChangeFigures promptId={promptId} entryId={entry.id} impact={impact} />}
      {impact !== null && <ChangeLift key={entry.id} promptId={promptId} entryId={entry.id} impact={impact} />}
      <section className="change-diff" aria-labelledby="diff-title">
        <h3 id="diff-title">
          Change
          {impact !== null && !isShared && (
            // Without another version, the page compares it with the one before.
            <Link href={`${promptPath(promptId)}/compare?b=${entry.id}`}>Compare side by side</Link>
          )}
        </h3>
        {body !== '' && (
          <p className="entry-message">
            <UntrustedText text={body} />
          </p>
        )}
        <ChangeDiff promptId={promptId} entryId={entry.id} />
      </section>
      {impact !== null && (
        <>
          {showsSignals && <NegativeComments promptId={promptId} entryId={entry.id} />}
          {!isShared && <ChangeSegments promptId={promptId} entryId={entry.id} />}
          <LiveTimes impact={impact} />
        </>
      )}
    </>
  )
}
