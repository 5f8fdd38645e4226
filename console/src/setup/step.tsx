import { Check } from 'lucide-react'
import type { ReactNode } from 'react'

interface Props {
  title: string
  isDone: boolean
  children: ReactNode
}

export function Step({ title, isDone, children }: Props) {
  return (
    <li className="set-up-step" data-done={isDone}>
      <h3>
        {isDone && <Check aria-hidden="true" />}
        {title}
        {isDone && <span className="visually-hidden"> (done)</span>}
      </h3>
      <div className="set-up-content">{children}</div>
    </li>
  )
}
