import { invalid } from '../../domain/errors.ts'
import type { SegmentKeys } from '../../domain/impact/reading/segment-keys.ts'
import { lastValue, type Query } from '../parameters.ts'

const prefix = 'metadata.'

/** The key that `by` names, or null without `by`. */
export function segmentParameter(query: Query): string | null {
  const by = lastValue(query.by)
  if (by === undefined) return null
  if (!by.startsWith(prefix) || by === prefix) {
    throw invalid(`by must be ${prefix} followed by a declared key, such as metadata.model`)
  }
  return by.slice(prefix.length)
}

export function checkDeclared(key: string, { keys, source }: SegmentKeys): void {
  if (keys.includes(key)) return
  const path = source === 'prompt' ? '/api/v1/prompts/:prompt_id/segments' : '/api/v1/segments'
  throw invalid(
    `by names a key that is not declared. An admin can declare it with PUT ${path} and {"keys": ${JSON.stringify([...keys, key])}}`,
  )
}
