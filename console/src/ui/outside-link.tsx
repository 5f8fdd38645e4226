import type { ReactNode } from 'react'

/** A link to where the record points. Whatever it was recorded as, only web addresses are followed. */
export function OutsideLink({ to, children }: { to: string; children: ReactNode }) {
  if (!isWebAddress(to)) return <span>{children}</span>
  return (
    <a href={to} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

function isWebAddress(text: string): boolean {
  try {
    return ['https:', 'http:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}
