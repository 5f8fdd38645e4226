import type { SignalValue } from '@promptledger/client'
import { ThumbsDown, ThumbsUp } from 'lucide-react'

export const valueNames: Record<SignalValue, string> = { positive: 'Positive', negative: 'Negative' }

const icons = { positive: ThumbsUp, negative: ThumbsDown }

export function Value({ value }: { value: SignalValue }) {
  const Icon = icons[value]
  return (
    <span className={`signal-value ${value}`}>
      <Icon aria-hidden="true" />
      {valueNames[value]}
    </span>
  )
}
