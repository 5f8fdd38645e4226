import type { SessionInfo } from '@promptledger/client'
import { Button } from '../ui/button.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useCreatedKey } from './created-key.ts'
import { KeyStep } from './key-step.tsx'
import { usePromptChoice } from './prompt-choice.ts'
import { PromptStep } from './prompt-step.tsx'
import { RepositoryStep } from './repository-step.tsx'
import type { SetUpState } from './set-up-state.ts'
import { SignalStep } from './signal-step.tsx'
import { Step } from './step.tsx'

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
