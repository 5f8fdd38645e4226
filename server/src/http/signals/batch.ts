import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type BatchItem,
  batchItemSchema,
  operations,
  signalBatchSchema,
  type TracedItem,
  tracedItemSchema,
} from '../../../../contract/signals.ts'
import { DomainError } from '../../domain/errors.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { findPrompt } from '../../domain/prompt-reference.ts'
import { elementTexts, memberText } from '../../domain/signals/json-text.ts'
import {
  type Allowance,
  maxBatchBytes,
  type RecordedSignal,
  type RecordSignal,
  recordSignal,
} from '../../domain/signals/signal.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import { type CallIds, readCalls, requireCall } from '../../domain/telemetry/call-links.ts'
import { createTurns, type Instant } from '../../domain/time.ts'
import { json, send } from '../answer.ts'
import type { Context } from '../context.ts'
import { asDomainError, errorBody, statusOf } from '../errors.ts'
import { lazy } from '../lazy.ts'
import { route } from '../route.ts'
import { createSchemaChecker, fastifyValidator } from '../validate.ts'
import { renderSignal } from './body.ts'
import { addRateLimitHeaders, rateLimitHeadersOf } from './rate-limit.ts'
import { parseBatchItem } from './validation.ts'

const checkItem = createSchemaChecker(batchItemSchema)
const checkTraced = createSchemaChecker(tracedItemSchema)

const validateBatch = fastifyValidator(signalBatchSchema)
const validatorCompiler = ({ httpPart }: { httpPart?: string }) => (httpPart === 'body' ? validateBatch : () => true)

/** The URL is that of the batch, so the message of other 404 responses would mislead. */
function unknownPrompt(): DomainError {
  return new DomainError(
    'not_found',
    'No prompt has this ID, path or name. A key can only access prompts of its own organisation.',
  )
}

export function createSignalsRoute(app: FastifyInstance, context: Context): void {
  const { store, clock, planLimits, voters, log } = context

  /** Reads the signals of the batch, in order. One that is invalid becomes an error. */
  async function parseBatch(request: FastifyRequest, now: Instant): Promise<(RecordSignal | DomainError)[]> {
    const { signals: items } = request.body as { signals: unknown[] }
    const texts = elementTexts(memberText(request.bodyText, 'signals') as string)
    const prompts = new Map<string, Prompt | DomainError>()

    async function promptOf(reference: string): Promise<Prompt | DomainError> {
      const prompt = await findPrompt(store.prompts, request.access, reference).catch(asRejection)
      const found = prompt ?? unknownPrompt()
      prompts.set(reference, found)
      return found
    }

    // Read once, for all signals that name a call instead of a prompt.
    const readTraced = lazy(() => readCalls(store, request.access, items.filter(isTraced).map(callIdsOf)))

    const parsed: (RecordSignal | DomainError)[] = []
    const takeTurns = createTurns()
    for (const [i, item] of items.entries()) {
      try {
        if (isTraced(item)) {
          const checked = checkTraced(item) as TracedItem
          const { prompt, link } = requireCall((await readTraced())(callIdsOf(item)))
          const signal = await parseBatchItem(prompt, checked, texts[i] as string, voters, now)
          parsed.push(withCall(signal, link.version, checked.trace_id ?? null))
        } else {
          const checked = checkItem(item) as BatchItem
          const prompt = prompts.get(checked.prompt) ?? (await promptOf(checked.prompt))
          if (prompt instanceof DomainError) throw prompt
          const signal = parseBatchItem(prompt, checked, texts[i] as string, voters, now)
          parsed.push(signal instanceof Promise ? await signal : signal)
        }
      } catch (error) {
        parsed.push(asRejection(error))
      }
      const turn = takeTurns()
      if (turn !== undefined) await turn
    }
    return parsed
  }

  const onSend = addRateLimitHeaders(context)
  route(
    app,
    operations.createSignals,
    async (request, reply) => {
      const now = clock()
      const signals = await parseBatch(request, now)
      // All at once and in order: the store commits them in few transactions, and the first ones get the rest of the limit.
      const results = await Promise.allSettled(
        signals.map((signal) =>
          signal instanceof DomainError
            ? Promise.reject(signal)
            : recordSignal(store.signals, request.access, planLimits, signal, now),
        ),
      )
      const failure = results.find(
        (result) => result.status === 'rejected' && asDomainError(result.reason).code === 'internal_error',
      )
      if (failure !== undefined) {
        const { reason } = failure as PromiseRejectedResult
        if (results.every(({ status }) => status === 'rejected')) throw reason
        log.error({ requestId: request.id, err: reason }, 'signals of a batch could not be stored')
      }
      const headers = { ...rateLimitHeadersOf(lastAllowance(results), now), ...json }
      return send(reply, { status: 200, headers, body: `{"data":[${results.map(renderResult).join(',')}]}` })
    },
    {
      onSend,
      bodyLimit: maxBatchBytes,
      validatorCompiler,
    },
  )
}

function lastAllowance(results: PromiseSettledResult<RecordedSignal>[]): Allowance | null {
  const isCounted = (result: PromiseSettledResult<RecordedSignal>) =>
    result.status === 'fulfilled' && result.value.allowance !== null
  const last = results.findLast(isCounted) as PromiseFulfilledResult<RecordedSignal> | undefined
  return last?.value.allowance ?? null
}

function renderResult(result: PromiseSettledResult<RecordedSignal>): string {
  if (result.status === 'fulfilled') {
    const { signal, isNew } = result.value
    return `{"status":${isNew ? 201 : 200},"data":${renderSignal(signal)}}`
  }
  const error = asDomainError(result.reason)
  return `{"status":${statusOf[error.code]},${errorBody(error).slice(1)}`
}

/** Whether the item names a call instead of a prompt. Otherwise both fields are unknown ones, which are ignored. */
function isTraced(item: unknown): item is Record<string, unknown> {
  const { prompt, trace_id, response_id } = (item ?? {}) as Record<string, unknown>
  return prompt === undefined && (trace_id != null || response_id != null)
}

/** Without IDs that no span has: PostgreSQL rejects some of their characters, and one signal must not fail the others. */
function callIdsOf({ trace_id, response_id }: Record<string, unknown>): CallIds {
  const isTraceId = typeof trace_id === 'string' && /^[0-9a-f]{32}$/.test(trace_id)
  const isResponseId = typeof response_id === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(response_id)
  return { traceId: isTraceId ? trace_id : '', spanId: '', responseId: isResponseId ? response_id : null }
}

/** The signal with the version that the span of its call names, unless it names one itself. */
function withCall(signal: RecordSignal, version: VersionText | null, traceId: string | null): RecordSignal {
  const none = { version: null, subject: null, voter: null, comment: null, occurredAt: null, traceId: null }
  const sent = signal.details ?? none
  return {
    ...signal,
    details: { ...sent, version: sent.version ?? version, traceId: sent.traceId ?? traceId },
  }
}

/** The error of one signal. A failure of the service rejects the whole batch. */
function asRejection(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  throw error
}
