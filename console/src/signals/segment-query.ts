import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function promptSegmentsKey(promptId: string) {
  return ['prompt-segments', promptId]
}

/** The declared keys of a prompt: its own, or those of the organisation. */
export function usePromptSegments(promptId: string) {
  return useQuery({
    queryKey: promptSegmentsKey(promptId),
    queryFn: ({ signal }) => ledger.segments.ofPrompt(promptId, { signal }),
  })
}
