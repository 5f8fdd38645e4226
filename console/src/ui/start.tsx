import type { ReactNode } from 'react'
import { firstFocus } from './first-focus.ts'

/**
 * Where the focus is when a dialog opens that shows a secret once: on no button, or whoever presses Enter once too often
 * would never see it.
 */
export function Start({ children }: { children: ReactNode }) {
  return (
    <div className="start" tabIndex={-1} ref={firstFocus}>
      {children}
    </div>
  )
}
