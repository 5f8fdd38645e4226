'use client'
import { createElement, type HTMLAttributes, type ReactElement, useEffect, useRef } from 'react'
import type { ThumbsError, ThumbsLabel, ThumbsVote } from './thumbs.ts'
import './thumbs.ts'

export type { ThumbsError, ThumbsLabel, ThumbsVote } from './thumbs.ts'

export interface ThumbsProps extends Omit<HTMLAttributes<HTMLElement>, 'onError'> {
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
  /** The service stored a vote. */
  onVote?: ((vote: ThumbsVote) => void) | undefined
  /** The service rejected a vote. */
  onError?: ((error: ThumbsError) => void) | undefined
}

/** `<promptledger-thumbs>` for React 18 and later. */
export function Thumbs(props: ThumbsProps): ReactElement {
  const { token, endpoint, comment, value, labels = {}, onVote, onError, className, ...others } = props
  const element = useRef<HTMLElement>(null)
  const handlers = useRef({ onVote, onError })

  useEffect(() => {
    handlers.current = { onVote, onError }
  })
  // React 18 knows no events of custom elements.
  useEffect(() => {
    const { current } = element
    const voted = (event: Event) => handlers.current.onVote?.((event as CustomEvent<ThumbsVote>).detail)
    const failed = (event: Event) => handlers.current.onError?.((event as CustomEvent<ThumbsError>).detail)
    current?.addEventListener('vote', voted)
    current?.addEventListener('error', failed)
    return () => {
      current?.removeEventListener('vote', voted)
      current?.removeEventListener('error', failed)
    }
  }, [])

  return createElement('promptledger-thumbs', {
    ...others,
    ref: element,
    // React 18 would write these as `classname` and `comment="true"`.
    class: className,
    comment: comment ? '' : undefined,
    endpoint,
    token,
    value: value ?? undefined,
    ...Object.fromEntries(Object.entries(labels).map(([name, text]) => [`label-${name}`, text])),
  })
}
