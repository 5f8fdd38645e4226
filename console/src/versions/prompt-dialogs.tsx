import type { Prompt } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { SnippetChoice } from '../setup/snippet-choice.tsx'
import { SharePrompt } from '../shared/share-dialog.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { NameField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { useUrlParams } from '../url-params.ts'
import { usePrompt } from './version-queries.ts'

interface Props {
  prompt: Prompt
  onClose: () => void
}

const dialogs = { send: SendSignals, share: SharePrompt, rename: RenamePrompt, delete: DeletePrompt }

/** What can be done with a prompt from each of its pages: `do` in the URL. */
export function PromptDialog({ promptId, action }: { promptId: string; action: string }) {
  const { data: prompt } = usePrompt(promptId)
  const [, setParams] = useUrlParams()
  if (prompt === undefined || !Object.hasOwn(dialogs, action)) return null
  const Action = dialogs[action as keyof typeof dialogs]
  return <Action prompt={prompt} onClose={() => setParams({ do: null }, { replace: true })} />
}

function SendSignals({ prompt, onClose }: Props) {
  return (
    <Dialog title="Send signals" onClose={onClose}>
      <div className="form">
        <SnippetChoice promptId={prompt.id} version={prompt.last_change?.commit_sha ?? null} secret={null} />
      </div>
    </Dialog>
  )
}

const labels = { name: 'Name' }

function RenamePrompt({ prompt, onClose }: Props) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(prompt.name)
  const renaming = useMutation({
    mutationFn: () => ledger.prompts.rename(prompt.id, { name: name.trim() }),
    onSuccess: () => queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  })
  return (
    <FormDialog
      title="Rename this prompt"
      mutation={renaming}
      labels={labels}
      submitLabel="Rename"
      onSubmit={() => renaming.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <NameField
        label={labels.name}
        hint="Its ID stays, so that your applications need no change."
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}

function DeletePrompt({ prompt, onClose }: Props) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const deletion = useMutation({
    mutationFn: () => ledger.prompts.delete(prompt.id),
    onSuccess: () => {
      navigate('/prompts')
      // What the pages of this prompt asked for is gone.
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(prompt.id) })
      return queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    },
  })
  return (
    <ConfirmDialog
      title={`Delete ${prompt.name}?`}
      confirmLabel="Delete prompt"
      mutation={deletion}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      <p>
        Its history and signals disappear, and applications that send signals to it get 404. Its signals still count
        towards the monthly limit. This cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
