import type { SignalValue } from '../domain/signals/signal.ts'
import type { AdapterName, SourceField } from '../domain/sources/source.ts'

/** Where a text is: at one JSONPath, at the first of several that has it, or several of them joined. */
export type Place = string | { any: readonly Place[] } | { all: readonly Place[] }

/** How a product says that a request comes from it. */
export type Authentication =
  /** The secret itself, in `Authorization: Bearer`, for products that sign nothing but send headers of our choice. */
  | { kind: 'bearer' }
  /** We ask the product, which sends nothing. */
  | { kind: 'none' }
  | {
      kind: 'hmac'
      algorithm: 'sha256' | 'sha1'
      encoding: 'hex' | 'base64'
      /** The header with the signature, and what comes before it. */
      header: string
      prefix: string
      /** The header with the time of the request, and what is signed in front of the body. */
      timestamp?: { header: string; signed: (timestamp: string) => string }
    }

/** How the events of one product become signals: data, with no code of its own. */
export interface Adapter {
  name: AdapterName
  authentication: Authentication
  fields: Readonly<Partial<Record<SourceField, Place>>>
  /** What values mean, in lower case. */
  values: Readonly<Record<string, SignalValue>>
  /** Numbers above count as positive, those below as negative. */
  midpoint?: number
  /** Whether events without a known value are to be expected: they are ignored instead of rejected. */
  isMixed?: boolean
  /** What a value may have behind it that does not matter. */
  suffix?: RegExp
  /** Only events with one of these texts at the place are feedback. */
  only?: { at: Place; in: readonly string[] }
  /** Only events in which both places have the same text are feedback. */
  same?: readonly [Place, Place]
  /** Events with this text at the place withdraw the vote on their subject. */
  withdraws?: { at: Place; is: string }
  /** How the product checks the URL: a request with this text at the place has a member that the response must repeat. */
  challenge?: { at: Place; is: string; member: string }
}

/** Words that products use for a vote. */
export const commonValues: Readonly<Record<string, SignalValue>> = {
  positive: 'positive',
  up: 'positive',
  thumbs_up: 'positive',
  thumbsup: 'positive',
  like: 'positive',
  good: 'positive',
  yes: 'positive',
  true: 'positive',
  '1': 'positive',
  negative: 'negative',
  down: 'negative',
  thumbs_down: 'negative',
  thumbsdown: 'negative',
  dislike: 'negative',
  bad: 'negative',
  no: 'negative',
  false: 'negative',
  '0': 'negative',
  '-1': 'negative',
}
