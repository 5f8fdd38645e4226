import type { Access } from '../access/api-key.ts'
import { DomainError, invalid } from '../errors.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import type { Store } from '../store.ts'
import type { CallLink } from './telemetry.ts'

/** What is known about the call that produced an output. Each may be missing. */
export type CallIds = Pick<CallLink, 'traceId' | 'spanId' | 'responseId'>

interface FoundCall {
  prompt: Prompt
  link: CallLink
}

/** The call that the IDs belong to; null if none is known, and `ambiguous` if the trace has calls of several prompts. */
type FindCall = (ids: CallIds) => FoundCall | 'ambiguous' | null

/**
 * Reads the calls of prompts that the key may use with one of these IDs. The call of an output is that of its response, else of its
 * span, else the last one of its trace.
 */
export async function readCalls(
  { telemetry, prompts }: Pick<Store, 'telemetry' | 'prompts'>,
  { organisationId, prompts: glob }: Pick<Access, 'organisationId' | 'prompts'>,
  ids: readonly Pick<CallIds, 'traceId' | 'responseId'>[],
): Promise<FindCall> {
  const traceIds = [...new Set(ids.map(({ traceId }) => traceId))].filter((id) => id !== '')
  const responseIds = [...new Set(ids.map(({ responseId }) => responseId))].filter((id) => id !== null)
  if (traceIds.length + responseIds.length === 0) return () => null
  const links = await telemetry.links(organisationId, traceIds, responseIds)
  const found = await prompts.withIds(organisationId, [...new Set(links.map(({ promptId }) => promptId))])
  const promptOf = new Map(found.filter((prompt) => matchesPromptGlob(glob, prompt)).map((each) => [each.id, each]))
  const calls = links.flatMap((link): FoundCall[] => {
    const prompt = promptOf.get(link.promptId)
    return prompt === undefined ? [] : [{ prompt, link }]
  })
  const byTrace = Map.groupBy(calls, ({ link }) => link.traceId)
  // The last one wins.
  const byResponse = new Map(calls.map((call) => [call.link.responseId, call]))

  return ({ traceId, spanId, responseId }) => {
    const ofResponse = responseId === null ? undefined : byResponse.get(responseId)
    if (ofResponse !== undefined) return ofResponse
    const ofTrace = byTrace.get(traceId) ?? []
    const last = ofTrace.find(({ link }) => link.spanId === spanId) ?? ofTrace.at(-1)
    if (last === undefined) return null
    if (last.link.spanId !== spanId && ofTrace.some(({ prompt }) => prompt.id !== last.prompt.id)) return 'ambiguous'
    return last
  }
}

/** The call of a signal that names no prompt. Throws if it is not known. */
export function requireCall(found: ReturnType<FindCall>): FoundCall {
  if (found === 'ambiguous') throw invalid('The trace has calls of several prompts. Send response_id, or prompt')
  if (found !== null) return found
  throw new DomainError(
    'not_found',
    'No span with this trace_id or response_id has named a prompt lately. Send prompt, or see docs/opentelemetry.md.',
  )
}
