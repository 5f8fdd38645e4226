import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const icons = { plain: Info, caution: TriangleAlert, bad: CircleAlert }

/** Something to know about what is on the page. */
export function Notice({ tone = 'plain', children }: { tone?: keyof typeof icons; children: ReactNode }) {
  const Icon = icons[tone]
  return (
    <div className={`notice ${tone}`}>
      <Icon aria-hidden="true" />
      <div>{children}</div>
    </div>
  )
}
