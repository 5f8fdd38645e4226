import type { Prompt, Signal } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, LoaderCircle } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { signalsPath } from '../signals/signals-path.ts'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { isSample } from './prompt-choice.ts'

const firstWaitMs = 2_000
const maxWaitMs = 30_000
const backoff = 1.15
// About an hour.
const maxAttempts = 130

interface Props {
  prompt: Prompt
  /** Whether a prompt of the organisation's own has signals. */
  isReceived: boolean
}

/** Waits for the first signal of a prompt. The browser asks less and less often, and not at all while the page is hidden. */
export function FirstSignal({ prompt, isReceived }: Props) {
  const promptId = prompt.id
  const queryClient = useQueryClient()
  const poll = useQuery({
    queryKey: ['set-up', 'signals', promptId],
    queryFn: async ({ signal }) => (await ledger.signals.list(promptId, { limit: 1 }, { signal })).data[0] ?? null,
    refetchInterval: ({ state }) => (state.data ? false : waitMs(state.dataUpdateCount + state.errorUpdateCount)),
  })
  const first = poll.data ?? null
  const isNews = first !== null && !isReceived
  useEffect(() => {
    if (!isNews) return
    void queryClient.invalidateQueries({ queryKey: ['usage'] })
    void queryClient.invalidateQueries({ queryKey: ['prompts'] })
  }, [isNews, queryClient])
  return (
    <div className="set-up-status" role="status">
      {first !== null ? (
        <Received prompt={prompt} signal={first} />
      ) : isReceived ? (
        <span className="muted">Signals have been received, none of this prompt.</span>
      ) : (
        <>
          <LoaderCircle aria-hidden="true" />
          Waiting for the first signal…
          {poll.isError && <span className="muted">The service does not respond, still trying.</span>}
          {poll.dataUpdatedAt > 0 && <Button onClick={() => poll.refetch()}>Check now</Button>}
        </>
      )}
    </div>
  )
}

function Received({ prompt, signal }: { prompt: Prompt; signal: Signal }) {
  return (
    <>
      <CircleCheck aria-hidden="true" />
      <span>
        <strong>Signal received</strong>: {signal.value}, <Time at={signal.created_at} as="relative" />.{' '}
        <Link href={signalsPath(prompt.id)}>See it</Link>
        {isSample(prompt) && '. It works. Now choose a prompt of your own.'}
      </span>
    </>
  )
}

function waitMs(attempts: number): number | false {
  return attempts < maxAttempts && Math.min(maxWaitMs, firstWaitMs * backoff ** attempts)
}
