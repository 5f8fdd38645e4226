import type { Effect } from '@promptledger/client'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { Verdict } from '../ui/verdict.tsx'

interface Props {
  promptId: string
  a: number
  b: number
}

/** The verdict on the change from one version to the other, if one replaced the other. */
export function CompareVerdict({ promptId, a, b }: Props) {
  const [from, to] = [useTimelineEntry(promptId, a).data?.impact, useTimelineEntry(promptId, b).data?.impact]
  if (a === b) return <p className="compare-verdict muted">Both sides are the same version. Choose another one.</p>
  if (!from || !to) return null
  const judged = follows(from, to) ? to : null
  const reverse = judged === null && follows(to, from)
  if (judged === null) {
    return (
      <p className="compare-verdict muted">
        {reverse
          ? 'The version on the right is the older one. Swap them to see the verdict on the change between them.'
          : 'These figures are not a verdict: one version did not replace the other, so the time and other changes between them count too.'}
      </p>
    )
  }
  return (
    <p className="compare-verdict">
      <Verdict verdict={judged.verdict} /> <span className="muted">{judged.explanation}</span>
    </p>
  )
}

/** Whether a version replaced the other: it was live when this one went live, and the verdict rests on its signals. */
function follows(before: Effect, after: Effect): boolean {
  const wasLive = before.live_windows.some(
    ({ from, until }) => from < after.live_from && (until === null || until >= after.live_from),
  )
  const { positive, negative } = after.before
  return wasLive && positive === before.after.positive && negative === before.after.negative
}
