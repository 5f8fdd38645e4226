import type { HistoryEntryDetails } from '../../../../client/src/index.ts'
import { styled, type Text } from './text.ts'

export function textLines(text: string): Text[] {
  return text.replace(/\n$/, '').split('\n')
}

const reasons = {
  absent: 'the file does not exist',
  too_large: 'it is too large',
  unavailable: 'the repository no longer has it',
  available: '',
}

/** Says why the text before or after a change cannot be shown. */
export function missingText(
  side: 'before' | 'after',
  details: Pick<HistoryEntryDetails, 'before_state' | 'after_state'>,
): Text {
  const state = side === 'before' ? details.before_state : details.after_state
  // A newer service may know further states.
  return styled('yellow', `The text ${side} this change is not known: ${reasons[state] ?? state}.`)
}
