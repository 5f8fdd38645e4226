import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { promptSegmentsKey, usePromptSegments } from '../signals/segments.tsx'
import { Button } from '../ui/button.tsx'
import { visibleText } from '../ui/untrusted-text.tsx'
import { SegmentKeysForm } from './segment-keys-form.tsx'

const maxSuggestions = 20

/** Keys of one prompt instead of those of the organisation. The prompt is found by its name. */
export function PromptSegments({ maxKeys }: { maxKeys: number }) {
  const id = useId()
  const [search, setSearch] = useState('')
  const prompts = useQuery({
    queryKey: ['prompts', 'names', search],
    queryFn: async ({ signal }) => (await ledger.prompts.list({ q: search, limit: maxSuggestions }, { signal })).data,
    placeholderData: keepPreviousData,
  })
  const chosen = prompts.data?.find(({ name, id: promptId }) => name === search || promptId === search)
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Prompt</label>
        <input
          id={id}
          list={`${id}-names`}
          autoComplete="off"
          placeholder="Name of a prompt"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <datalist id={`${id}-names`}>
          {prompts.data?.map(({ id: promptId, name }) => (
            <option key={promptId} value={name} label={visibleText(name)} />
          ))}
        </datalist>
      </div>
      {search !== '' && chosen === undefined && !prompts.isFetching && (
        <p className="muted" role="status">
          {prompts.data?.length ? 'Choose one of the names.' : 'No prompt has this in its name.'}
        </p>
      )}
      {chosen !== undefined && <KeysOfPrompt key={chosen.id} promptId={chosen.id} maxKeys={maxKeys} />}
    </>
  )
}

function KeysOfPrompt({ promptId, maxKeys }: { promptId: string; maxKeys: number }) {
  const queryClient = useQueryClient()
  const segments = usePromptSegments(promptId)
  const saving = useMutation({
    mutationFn: (keys: string[] | null) => ledger.segments.declareForPrompt(promptId, { keys }),
    onSuccess: (saved) => queryClient.setQueryData(promptSegmentsKey(promptId), saved),
  })
  if (segments.data === undefined) return null
  const { keys, source } = segments.data
  return (
    <>
      <p className="muted">
        {source === 'prompt' ? 'This prompt has keys of its own.' : 'This prompt uses the keys for all prompts.'}
      </p>
      <SegmentKeysForm
        key={JSON.stringify(segments.data)}
        label="Keys for this prompt"
        keys={keys}
        maxKeys={maxKeys}
        mutation={saving}
        onSave={(changed) => saving.mutate(changed)}
      >
        {source === 'prompt' && (
          <Button busy={saving.isPending} onClick={() => saving.mutate(null)}>
            Use the keys for all prompts
          </Button>
        )}
      </SegmentKeysForm>
    </>
  )
}
