import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function promptSegmentsKey(promptId: string) {
  return ['prompt-segments', promptId]
}

/** The declared keys of a prompt: its own, or those of the organisation. */
export function usePromptSegments(promptId: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: promptSegmentsKey(promptId),
    queryFn: ({ signal }) => ledger.segments.ofPrompt(promptId, { signal }),
  })
}
