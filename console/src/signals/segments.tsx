import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { formatPoints } from '../ui/percent.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'

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

/** The key to break down by, which is `by` in the URL. */
export function useSegmentKey(keys: string[]): string | null {
  const [params] = useUrlParams()
  return keys.find((name) => name === params.get('by')) ?? null
}

export function SegmentKeys({ keys }: { keys: string[] }) {
  const [, setParams] = useUrlParams()
  const selected = useSegmentKey(keys)
  return (
    <ToggleGroup
      label="Break down by"
      options={keys.map((name) => ({ value: name, label: name }))}
      isSelected={(name) => name === selected}
      onSelect={(name) => setParams({ by: name === selected ? null : name })}
    />
  )
}

interface Segment {
  value: string | null
  /** It pools the values that have no row. */
  other: boolean
}

export function segmentRowKey({ value, other }: Segment): string {
  return value === null ? String(other) : `=${value}`
}

export function SegmentValue({ value, other }: Segment) {
  if (value === null) return <span className="muted">{other ? 'Other values' : 'No value'}</span>
  return (
    <bdi>
      <UntrustedText text={value} />
    </bdi>
  )
}

export const pointsColumn = {
  header: 'Points',
  align: 'right',
  className: 'nowrap',
  cell: ({ difference }: { difference: number | null }) => (difference === null ? '–' : formatPoints(difference)),
} as const
