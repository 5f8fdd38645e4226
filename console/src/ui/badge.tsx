import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface Props {
  tone?: 'good' | 'bad' | 'caution' | 'plain'
  icon?: LucideIcon
  children: ReactNode
}

/** A status in a word or two. */
export function Badge({ tone = 'plain', icon: Icon, children }: Props) {
  return (
    <span className={`badge ${tone}`}>
      {Icon !== undefined && <Icon aria-hidden="true" />}
      {children}
    </span>
  )
}
