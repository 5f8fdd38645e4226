import { NotFoundError } from '@promptledger/client'
import { ArrowLeftRight } from 'lucide-react'
import { Link } from 'wouter'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { useEntryTexts } from '../prompt/entry-queries.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { useUrlParams } from '../url-params.ts'
import { CompareVerdict } from './compare-verdict.tsx'
import { useComparedIds } from './compared-ids.ts'
import { ComparedTexts } from './compared-texts.tsx'
import { ComparedVersion } from './compared-version.tsx'
import { PromptHead } from './prompt-head.tsx'
import { usePrompt } from './prompt-query.ts'
import { missingTextReason } from './text-state.ts'

/** Any two versions of a prompt: their texts and their figures. By default the live version and the one before it. */
export function ComparePage({ id }: { id: string }) {
  const prompt = usePrompt(id)
  usePageTitle(prompt.data === undefined ? 'Compare versions' : `Compare versions of ${prompt.data.name}`)
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  if (prompt.isLoadingError) return <LoadError error={prompt.error} retry={prompt.refetch} />
  if (prompt.isPending) return <Loading what="the prompt" />
  return (
    <>
      <PromptHead prompt={prompt.data} section="Compare" />
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
