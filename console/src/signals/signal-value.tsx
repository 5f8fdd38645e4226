import type { SignalValue as Value } from '@promptledger/client'
import { ThumbsDown, ThumbsUp } from 'lucide-react'

export const valueLabels: Record<Value, string> = { positive: 'Positive', negative: 'Negative' }

const icons = { positive: ThumbsUp, negative: ThumbsDown }

export function SignalValue({ value }: { value: Value }) {
  const Icon = icons[value]
  return (
    <span className={`signal-value ${value}`}>
      <Icon aria-hidden="true" />
      {valueLabels[value]}
    </span>
  )
}
