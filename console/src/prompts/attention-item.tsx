import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'

interface Props {
  icon: LucideIcon
  tone: 'bad' | 'caution'
  /** What it is about, and where to look. */
  name: ReactNode
  to: string
  children: ReactNode
  /** A short remark at the end of the line. */
  note?: ReactNode
}

export function AttentionItem({ icon: Icon, tone, name, to, children, note }: Props) {
  return (
    <li className={`attention-item ${tone}`}>
      <Icon aria-hidden="true" />
      <div>
        <Link className="row-link" href={to}>
          {name}
        </Link>
        : {children}
      </div>
      {note !== undefined && <span className="attention-note">{note}</span>}
    </li>
  )
}
