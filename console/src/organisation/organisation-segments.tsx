import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { LoadError } from '../ui/load-error.tsx'
import { PromptSegments } from './prompt-segments.tsx'
import { SegmentKeysForm } from './segment-keys-form.tsx'

export function OrganisationSegments({ maxKeys }: { maxKeys: number }) {
  const queryClient = useQueryClient()
  const segments = useQuery({ queryKey: ['segments'], queryFn: ({ signal }) => ledger.segments.get({ signal }) })
  const saving = useMutation({
    mutationFn: (keys: string[]) => ledger.segments.declare({ keys }),
    onSuccess: (saved) => {
      queryClient.setQueryData(['segments'], saved)
      // Prompts without keys of their own use these.
      return queryClient.invalidateQueries({ queryKey: ['prompt-segments'] })
    },
  })
  return (
    <section className="card" aria-labelledby="segments">
      <h2 id="segments">Segments</h2>
      <p className="muted">
        Signals with the same value of one of these keys of their metadata, such as one model or one language, form a
        segment. A change that only seems worse because more votes now come from a weaker segment is then not blamed for
        it, and each change can be broken down by segment.
      </p>
      {segments.isError && <LoadError error={segments.error} retry={segments.refetch} />}
      {segments.data && (
        <SegmentKeysForm
          key={JSON.stringify(segments.data.keys)}
          label="Keys for all prompts"
          keys={segments.data.keys}
          maxKeys={maxKeys}
          mutation={saving}
          onSave={(keys) => saving.mutate(keys)}
        />
      )}
      <details className="form-advanced">
        <summary>Segments of one prompt</summary>
        <PromptSegments maxKeys={maxKeys} />
      </details>
    </section>
  )
}
