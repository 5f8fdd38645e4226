import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const icons = { plain: Info, good: CircleCheck, caution: TriangleAlert, bad: CircleAlert }

/** A remark on the content around it. */
export function Notice({ tone = 'plain', children }: { tone?: keyof typeof icons; children: ReactNode }) {
  const Icon = icons[tone]
  return (
    <div className={`notice ${tone}`}>
      <Icon aria-hidden="true" />
      <div>{children}</div>
    </div>
  )
}
