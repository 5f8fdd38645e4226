import {
  ConflictError,
  type Proposal,
  type ProposalFiles,
  type ProposalMode,
  type RegressionDetails,
} from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { trialPath, useTrialsOf } from '../trials/trial-query.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { focusOnOpen } from '../ui/dialog.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { Field } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { useUrlParams } from '../url-params.ts'

/** How to undo an open regression: its pull request, the trial that serves the change, or a form that proposes a revert. */
export function UndoActions({ regression }: { regression: RegressionDetails }) {
  const { proposal, change, prompt } = regression
  const [params, setParams] = useUrlParams()
  const { data: trials = [] } = useTrialsOf(prompt.id)
  const trial = trials.find(({ state, pr_number }) => state !== 'ended' && pr_number === change.pr_number)
  if (trial !== undefined) {
    return (
      <Link className="button primary" href={trialPath(trial)}>
        Stop the trial
      </Link>
    )
  }
  if (proposal !== null && proposal.state === 'open' && proposal.pr_url !== null) {
    return (
      <ExternalLink className="button primary" to={proposal.pr_url}>
        Open the revert, pull request #{proposal.pr_number}
      </ExternalLink>
    )
  }
  return (
    <>
      <button type="button" className="button primary" onClick={() => setParams({ undo: 'revert' })}>
        Propose a revert
      </button>
      {params.has('undo') && <ProposeRevert regression={regression} onClose={() => setParams({ undo: null })} />}
    </>
  )
}

const labels = { mode: 'Text', files: 'Files' }

function ProposeRevert({ regression, onClose }: { regression: RegressionDetails; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [mode, setMode] = useState<ProposalMode>('revert')
  const [files, setFiles] = useState<ProposalFiles>('prompt')
  const proposing = useMutation({
    mutationFn: () => ledger.regressions.propose(regression.prompt.id, regression.id, { mode, files }),
  })
  // Later, because the page then shows the pull request instead of the form.
  function close() {
    onClose()
    if (proposing.isSuccess) void queryClient.invalidateQueries({ queryKey: ['regressions'] })
  }
  if (proposing.data !== undefined) return <Proposed proposal={proposing.data} onClose={close} />
  return (
    <FormDialog
      title="Propose a revert?"
      mutation={proposing}
      labels={labels}
      submitLabel="Propose"
      onSubmit={() => proposing.mutate()}
      onClose={close}
    >
      <p>
        Opens a pull request that takes the change back, with the figures and the newest negative comments, and asks its
        author and reviewers. It is never merged by itself.
      </p>
      <Field label={labels.mode}>
        {(control) => (
          <select
            {...control}
            ref={focusOnOpen}
            value={mode}
            onChange={({ target }) => setMode(target.value as ProposalMode)}
          >
            <option value="revert">Without the change, and with later changes</option>
            <option value="restore">As before the change; later changes are lost</option>
          </select>
        )}
      </Field>
      <Field label={labels.files}>
        {(control) => (
          <select {...control} value={files} onChange={({ target }) => setFiles(target.value as ProposalFiles)}>
            <option value="prompt">Only the file of this prompt</option>
            <option value="change">All files of the change</option>
          </select>
        )}
      </Field>
      <ByHand error={proposing.error} />
    </FormDialog>
  )
}

function Proposed({ proposal, onClose }: { proposal: Proposal; onClose: () => void }) {
  const { pr_number: number, pr_url: url } = proposal
  const link = url === null ? `Pull request #${number}` : <ExternalLink to={url}>Pull request #{number}</ExternalLink>
  return (
    <ResultDialog title="Revert proposed" lead={<p>{link} takes the change back.</p>} onClose={onClose}>
      <p>Once it is merged, this regression is repaired.</p>
    </ResultDialog>
  )
}

/** The commands to take a change back without a token. */
function ByHand({ error }: { error: unknown }) {
  const commands = error instanceof ConflictError ? error.details.commands : undefined
  if (!Array.isArray(commands) || commands.length === 0) return null
  return <CodeBlock code={commands.join('\n')} what="commands" />
}
