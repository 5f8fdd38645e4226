import type { Prompt, SessionInfo, Signal } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, CircleCheck, LoaderCircle } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { signalsPath } from '../signals/signal-filter.ts'
import { Button } from '../ui/button.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { KeyStep } from './key-step.tsx'
import { isSample, type PromptChoice, usePromptChoice } from './prompt-choice.ts'
import { PromptStep } from './prompt-step.tsx'
import type { SetUpState } from './set-up-state.ts'
import { SnippetChoice } from './snippet-choice.tsx'

interface Props {
  session: SessionInfo
  state: SetUpState
}

/** What a new organisation needs, from the first key to the first signal and a repository. */
export function SetUp({ session, state }: Props) {
  const isAdmin = session.key.role === 'admin'
  const [secret, setSecret] = useCreatedKey()
  const choice = usePromptChoice()
  const { isSignalReceived, isRepositoryConnected } = state
  const done = [
    secret !== null || isSignalReceived,
    choice.prompt !== null,
    isSignalReceived,
    ...(isAdmin ? [isRepositoryConnected] : []),
  ]
  const isComplete = done.every(Boolean)
  return (
    <section className="card set-up" aria-labelledby="set-up">
      <div className="set-up-head">
        <div>
          <h2 id="set-up">
            Set up <UntrustedText text={session.organisation.name} />
          </h2>
          <p className="muted">
            {isComplete ? 'Everything is set up.' : `${done.filter(Boolean).length} of ${done.length} steps done`}
          </p>
        </div>
        <Button onClick={state.hide}>{isComplete ? 'Close' : 'Hide'}</Button>
      </div>
      <ol>
        <Step title="Create a key for your application" isDone={done[0] === true}>
          <KeyStep isAdmin={isAdmin} isNeeded={!isSignalReceived} secret={secret} onCreate={setSecret} />
        </Step>
        <Step title="Choose a prompt" isDone={done[1] === true}>
          <PromptStep isAdmin={isAdmin} choice={choice} />
        </Step>
        <Step title="Send the first signal" isDone={isSignalReceived}>
          <SignalStep choice={choice} secret={secret} isReceived={isSignalReceived} />
        </Step>
        {isAdmin && (
          <Step title="Connect a repository" isDone={isRepositoryConnected}>
            <RepositoryStep isConnected={isRepositoryConnected} />
          </Step>
        )}
      </ol>
    </section>
  )
}

/** For admins only: others cannot see whether a repository is connected. */
function RepositoryStep({ isConnected }: { isConnected: boolean }) {
  if (isConnected) return null
  return (
    <>
      <p>
        Each prompt file becomes a prompt, and its commits and pull requests become its history, so that every change of
        the text is compared with the signals before and after it.
      </p>
      <Link className="button primary" href="/repositories?connect">
        Connect a repository
      </Link>
    </>
  )
}

const queryKey = ['set-up', 'created-key']

/**
 * The key that was created here. It outlives the page but not the session, and only in memory: the service stores no more than
 * its hash, so a key that is lost on the way to another page would be lost for good.
 */
function useCreatedKey(): [secret: string | null, set: (secret: string) => void] {
  const queryClient = useQueryClient()
  const { data } = useQuery<string | null>({
    queryKey,
    queryFn: () => null,
    enabled: false,
    initialData: null,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return [data, (secret) => queryClient.setQueryData(queryKey, secret)]
}

interface SignalStepProps {
  choice: PromptChoice
  secret: string | null
  /** Whether a prompt of the organisation's own has signals. */
  isReceived: boolean
}

function SignalStep({ choice: { prompt }, secret, isReceived }: SignalStepProps) {
  if (prompt === null) return <p className="muted">Choose a prompt first.</p>
  return (
    <>
      <SnippetChoice promptId={prompt.id} version={prompt.last_change?.commit_sha ?? null} secret={secret} />
      <FirstSignal key={prompt.id} prompt={prompt} isReceived={isReceived} />
    </>
  )
}

interface StepProps {
  title: string
  isDone: boolean
  children: ReactNode
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li className="set-up-step" data-done={isDone}>
      <h3>
        {isDone && <Check aria-hidden="true" />}
        {title}
        {isDone && <span className="visually-hidden"> (done)</span>}
      </h3>
      <div className="set-up-content">{children}</div>
    </li>
  )
}

const firstWaitMs = 2_000
const maxWaitMs = 30_000
const backoff = 1.15
// About an hour.
const maxAttempts = 130

interface FirstSignalProps {
  prompt: Prompt
  /** Whether a prompt of the organisation's own has signals. */
  isReceived: boolean
}

/** Waits for the first signal of a prompt. The browser asks less and less often, and not at all while the page is hidden. */
function FirstSignal({ prompt, isReceived }: FirstSignalProps) {
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
