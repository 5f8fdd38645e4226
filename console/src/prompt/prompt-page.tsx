import { NotFoundError } from '@promptledger/client'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-head.tsx'
import { OpenRegressions } from '../regressions/open-regressions.tsx'
import { useOpenRegressions } from '../regressions/regression-query.ts'
import { PromptTrial } from '../trials/prompt-trial.tsx'
import { useTrialsOf } from '../trials/trial-query.ts'
import { LoadError, Loading } from '../ui/load-state.tsx'
import { LiveText } from '../versions/live-text.tsx'
import { PromptHead } from '../versions/prompt-head.tsx'
import { usePrompt } from '../versions/version-queries.ts'
import { Feedback } from './feedback.tsx'

export function PromptPage({ id }: { id: string }) {
  const prompt = usePrompt(id)
  const regressions = useOpenRegressions(id)
  const trials = useTrialsOf(id)
  usePageTitle(prompt.data?.name ?? 'Prompt')
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  // What comes later would push the rest of the page down.
  if (prompt.isPending || regressions.isPending || trials.isPending) return <Loading what="the prompt" />
  if (prompt.isLoadingError) return <LoadError error={prompt.error} retry={prompt.refetch} />
  return (
    <>
      <PromptHead prompt={prompt.data} section="Overview" />
      <OpenRegressions promptId={id} />
      <PromptTrial promptId={id} />
      <LiveText prompt={prompt.data} />
      <Feedback id={id} name={prompt.data.name} />
    </>
  )
}
