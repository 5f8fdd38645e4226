import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { visibleText } from '../ui/untrusted-text.tsx'
import type { PromptChoice } from './prompt-choice.ts'

interface Props {
  isAdmin: boolean
  choice: PromptChoice
}

const labels = { name: 'Name' }

export function PromptStep({ isAdmin, choice }: Props) {
  const [isCreating, setIsCreating] = useState(false)
  const { prompts, prompt, choose, isPending } = choice
  if (isPending) return null
  if (prompt === null) {
    return isAdmin ? (
      <NewPrompt onCreate={choose} />
    ) : (
      <p>There is no prompt yet. Ask an administrator to create one, or to connect the repository that holds them.</p>
    )
  }
  return (
    <>
      <div className="set-up-row">
        <select aria-label="Prompt" value={prompt.id} onChange={({ target }) => choose(target.value)}>
          {prompts.map(({ id, name }) => (
            <option key={id} value={id}>
              {visibleText(name)}
            </option>
          ))}
        </select>
        <CopyableId id={prompt.id} what="prompt ID" />
        {isAdmin && !isCreating && (
          <button type="button" className="text-button" onClick={() => setIsCreating(true)}>
            Create another prompt
          </button>
        )}
      </div>
      {isCreating && (
        <NewPrompt
          onCreate={(id) => {
            choose(id)
            setIsCreating(false)
          }}
        />
      )}
    </>
  )
}

function NewPrompt({ onCreate }: { onCreate: (id: string) => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const creation = useMutation({
    mutationFn: () => ledger.prompts.create({ name: name.trim() }),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ['prompts'] })
      onCreate(id)
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    creation.mutate()
  }
  return (
    <form onSubmit={submit}>
      <p>Files of a connected repository become prompts by themselves. Without one, create a prompt by its name:</p>
      <div className="set-up-row">
        <input
          aria-label="Name of the prompt"
          placeholder="Support replies"
          required
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Button type="submit" kind="primary" busy={creation.isPending}>
          Create prompt
        </Button>
      </div>
      <FormError error={creation.error} labels={labels} />
    </form>
  )
}
