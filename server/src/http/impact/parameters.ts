import type { FastifyRequest } from 'fastify'
import { invalid } from '../../domain/errors.ts'
import { asOf, type Moment, now } from '../../domain/impact/live/moment.ts'
import type { SegmentKeys } from '../../domain/impact/reading/segment-keys.ts'
import type { Store } from '../../domain/store.ts'
import type { Instant } from '../../domain/time.ts'
import { notShared } from '../errors.ts'
import { lastValue, type Query, timeParameter } from '../parameters.ts'

/** The time for which impacts are wanted: now, unless `as_of` says otherwise. */
export function requestedMoment(query: Query, at: Instant): Moment {
  const wanted = timeParameter(query, 'as_of')
  if (wanted === null) return now(at)
  if (wanted > at) throw invalid('as_of must not be in the future')
  return asOf(wanted)
}

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

/** The same, once it is known that the prompt has declared it. Its values are metadata, which not every share link shows. */
export async function requestedSegment(
  { segments }: Pick<Store, 'segments'>,
  { query, prompt, access }: FastifyRequest,
): Promise<string | null> {
  const key = segmentParameter(query as Query)
  if (key === null) return null
  if (access.shared?.includesSignals === false) throw notShared()
  checkDeclared(key, await segments.ofPrompt(prompt))
  return key
}

export function checkDeclared(key: string, { keys, source }: SegmentKeys): void {
  if (keys.includes(key)) return
  const path = source === 'prompt' ? '/api/v1/prompts/:prompt_id/segments' : '/api/v1/segments'
  throw invalid(
    `by names a key that is not declared. An admin can declare it with PUT ${path} and {"keys": ${JSON.stringify([...keys, key])}}`,
  )
}
