import type {
  ErrorCode,
  EvaluationContext,
  Provider,
  ResolutionDetails,
  TrackingEventDetails,
} from '@openfeature/server-sdk'
import type { Promptledger } from './client.ts'
import type { SignalQueue } from './queue.ts'

/** What `track('thumbs', context, details)` records: a vote on the output of a prompt, by the targeting key of the context. */
export interface ThumbsDetails extends TrackingEventDetails {
  /** Positive if it is greater than zero, otherwise negative. */
  value: number
  /** The flag key. */
  prompt: string
  /** The variant that the output came from. Without it, the vote counts for no trial. */
  version?: string
  subject?: string
  comment?: string
}

/**
 * An OpenFeature provider for servers: the flag key is a prompt, the value its text, the variant its commit, and the targeting key the unit
 * of a trial. Closing it closes the client.
 *
 * ```ts
 * await OpenFeature.setProviderAndWait(createProvider(new Promptledger()))
 * ```
 */
export function createProvider(ledger: Promptledger): Provider {
  let votes: SignalQueue | undefined

  async function resolveText(
    flagKey: string,
    defaultValue: string,
    { targetingKey }: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    const options = { unit: targetingKey, fallback: { text: defaultValue } }
    const { text, version, trial, prompt } = await ledger.prompts.text(flagKey, options)
    if (version === null) return unresolved(defaultValue, 'FLAG_NOT_FOUND', `No live text for ${flagKey}`)
    const flagMetadata = { prompt, ...(trial !== null && { trial: trial.id, arm: trial.arm }) }
    return { value: text, variant: version, reason: trial === null ? 'STATIC' : 'SPLIT', flagMetadata }
  }

  const noText = async <Value>(flagKey: string, defaultValue: Value) =>
    unresolved(defaultValue, 'TYPE_MISMATCH', `${flagKey} is a prompt: ask for a string`)

  return {
    metadata: { name: 'promptledger' },
    runsOn: 'server',
    resolveStringEvaluation: resolveText,
    resolveBooleanEvaluation: noText,
    resolveNumberEvaluation: noText,
    resolveObjectEvaluation: noText,

    track(event, { targetingKey: voter }, details) {
      if (event !== 'thumbs' || details === undefined) return
      const { value, prompt, version, subject, comment, ...metadata } = details as ThumbsDetails
      const named = { version, subject, comment, voter }
      votes ??= ledger.signals.queue()
      votes.add(String(prompt), {
        value: value > 0 ? 'positive' : 'negative',
        ...Object.fromEntries(Object.entries(named).filter(([, each]) => each !== undefined)),
        ...(Object.keys(metadata).length > 0 && { metadata }),
      })
    },

    async onClose() {
      await Promise.all([votes?.close({ timeout: 5_000 }), ledger.close()])
    },
  }
}

function unresolved<Value>(value: Value, errorCode: `${ErrorCode}`, errorMessage: string): ResolutionDetails<Value> {
  // The enum has these values. Importing it would load the SDK.
  return { value, reason: 'ERROR', errorCode: errorCode as ErrorCode, errorMessage }
}
