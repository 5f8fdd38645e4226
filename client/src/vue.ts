import { type FunctionalComponent, h, type PropType } from 'vue'
import type { ThumbsError, ThumbsLabel, ThumbsVote } from './thumbs.ts'
import './thumbs.ts'

export type { ThumbsError, ThumbsLabel, ThumbsVote } from './thumbs.ts'

export interface ThumbsProps {
  /** Signed by your server with `ledger.tokens.sign`. The buttons are disabled without one. */
  token?: string | undefined
  /** The URL of the service; the origin of the page by default. */
  endpoint?: string | undefined
  /** Asks for a comment after a vote. */
  comment?: boolean | undefined
  /** The vote that the user has given already. */
  value?: ThumbsVote['value'] | undefined
  /** Texts in another language. */
  labels?: Partial<Record<ThumbsLabel, string>> | undefined
}

// A type, because Vue needs an index signature, which interfaces do not have.
type ThumbsEvents = {
  /** The service stored a vote. */
  vote(vote: ThumbsVote): void
  /** The service rejected a vote. */
  error(error: ThumbsError): void
}

/** `<promptledger-thumbs>` for Vue 3. */
export const Thumbs: FunctionalComponent<ThumbsProps, ThumbsEvents> = (props, { emit, slots }) => {
  const { token, endpoint, comment, value, labels = {} } = props
  return h(
    'promptledger-thumbs',
    {
      endpoint,
      token,
      comment: comment ? '' : undefined,
      value: value ?? undefined,
      ...Object.fromEntries(Object.entries(labels).map(([name, text]) => [`label-${name}`, text])),
      onVote: (event: CustomEvent<ThumbsVote>) => emit('vote', event.detail),
      onError: (event: CustomEvent<ThumbsError>) => emit('error', event.detail),
    },
    slots.default?.(),
  )
}

Thumbs.props = {
  token: String,
  endpoint: String,
  comment: Boolean,
  value: String as PropType<ThumbsVote['value']>,
  labels: Object as PropType<ThumbsProps['labels']>,
}
Thumbs.emits = ['vote', 'error']
