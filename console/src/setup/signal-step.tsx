import { FirstSignal } from './first-signal.tsx'
import type { PromptChoice } from './prompt-choice.ts'
import { SnippetChoice } from './snippet-choice.tsx'

interface Props {
  choice: PromptChoice
  secret: string | null
  /** Whether a prompt of the organisation's own has signals. */
  isReceived: boolean
}

export function SignalStep({ choice: { prompt }, secret, isReceived }: Props) {
  if (prompt === null) return <p className="muted">Choose a prompt first.</p>
  return (
    <>
      <SnippetChoice promptId={prompt.id} version={prompt.last_change?.commit_sha ?? null} secret={secret} />
      <FirstSignal key={prompt.id} prompt={prompt} isReceived={isReceived} />
    </>
  )
}
