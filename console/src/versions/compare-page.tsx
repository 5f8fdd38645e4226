import { type Effect, NotFoundError } from '@promptledger/client'
import { ArrowLeftRight } from 'lucide-react'
import { Link } from 'wouter'
import { usePageTitle } from '../page-head.tsx'
import { useEntryTexts, useTimelineEntry } from '../prompt/entry-queries.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { existing, LoadError, Loading, PageState } from '../ui/load-state.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { useUrlParams } from '../url-params.ts'
import { ComparedTexts } from './compared-texts.tsx'
import { ComparedVersion } from './compared-version.tsx'
import { missingTextReason } from './missing-text.tsx'
import { PromptHead } from './prompt-head.tsx'
import { useLive, useNeighbours, usePrompt } from './version-queries.ts'

/** Any two versions of a prompt: their texts and their figures. By default the live version and the one before it. */
export function ComparePage({ id }: { id: string }) {
  const prompt = usePrompt(id)
  usePageTitle(prompt.data === undefined ? 'Compare versions' : `Compare versions of ${prompt.data.name}`)
  const data = existing(prompt)
  if (data === undefined) return <PageState query={prompt} what="the prompt" />
  return (
    <>
      <PromptHead prompt={data} section="Compare" />
      <h2 className="visually-hidden">Compare two versions</h2>
      <Comparison promptId={id} />
    </>
  )
}

function Comparison({ promptId }: { promptId: string }) {
  const [params] = useUrlParams()
  const { a, b, isPending, error, retry } = useComparedIds(promptId, params)
  if (error !== null) return <LoadError error={error} retry={retry} />
  if (isPending) return <Loading what="the versions" />
  if (a === null || b === null) {
    return (
      <EmptyState title="Nothing to compare yet">
        <p>This prompt has fewer than two versions that went live.</p>
      </EmptyState>
    )
  }
  /** The page with other versions. */
  const hrefOf = (changed: { a?: number; b?: number }) => {
    const next = new URLSearchParams(params)
    next.set('a', String(changed.a ?? a))
    next.set('b', String(changed.b ?? b))
    return `?${next}`
  }
  return (
    <>
      <div className="compare-head">
        <ComparedVersion label="From" promptId={promptId} entryId={a} hrefOf={(entry) => hrefOf({ a: entry })} />
        <Link className="button plain compare-swap" href={hrefOf({ a: b, b: a })}>
          <ArrowLeftRight aria-hidden="true" />
          Swap
        </Link>
        <ComparedVersion label="To" promptId={promptId} entryId={b} hrefOf={(entry) => hrefOf({ b: entry })} />
      </div>
      <CompareVerdict promptId={promptId} a={a} b={b} />
      <Texts promptId={promptId} a={a} b={b} />
    </>
  )
}

function Texts({ promptId, a, b }: { promptId: string; a: number; b: number }) {
  const [from, to] = [useEntryTexts(promptId, a), useEntryTexts(promptId, b)]
  const failed = [from, to].find(({ isError }) => isError)
  // The card of an unknown version says so.
  if (failed?.error instanceof NotFoundError) return null
  if (failed !== undefined) return <LoadError error={failed.error} retry={failed.refetch} />
  if (from.data === undefined || to.data === undefined) return <Loading what="the texts" />
  const missing = Object.entries({ From: from.data, To: to.data }).filter(([, { after }]) => after === null)
  if (missing.length > 0) {
    return missing.map(([label, { after_state: state, path }]) => (
      <p key={label} className="muted">
        {label}: {missingTextReason({ state, path })}
      </p>
    ))
  }
  return <ComparedTexts key={`${a} ${b}`} before={from.data.after ?? ''} after={to.data.after ?? ''} />
}

interface ComparedIds {
  /** Null if there is no such version. */
  a: number | null
  b: number | null
  isPending: boolean
  error: Error | null
  retry: () => unknown
}

/** The two versions in the URL. Without `b` the live one, without `a` the one before `b`. */
function useComparedIds(promptId: string, params: URLSearchParams): ComparedIds {
  const [a, b] = [entryFrom(params.get('a')), entryFrom(params.get('b'))]
  const live = useLive(promptId)
  const to = b ?? live.data?.entry?.id ?? null
  const neighbours = useNeighbours(promptId, a === null ? to : null)
  const from = a ?? neighbours.data?.older ?? null
  const used = [...(b === null ? [live] : []), ...(a === null && to !== null ? [neighbours] : [])]
  const failed = used.find(({ isError }) => isError)
  return {
    a: from,
    b: to,
    isPending: used.some(({ isPending }) => isPending),
    error: failed?.error ?? null,
    retry: () => failed?.refetch(),
  }
}

function entryFrom(text: string | null): number | null {
  const id = Number(text)
  return Number.isInteger(id) && id > 0 ? id : null
}

interface Props {
  promptId: string
  a: number
  b: number
}

/** The verdict on the change from one version to the other, if one replaced the other. */
function CompareVerdict({ promptId, a, b }: Props) {
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
