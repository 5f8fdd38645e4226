import type { ReactNode } from 'react'

/** A link to another site. The URL is untrusted: anything but http and https is shown as plain text. */
export function ExternalLink({ to, children }: { to: string; children: ReactNode }) {
  if (!isWebUrl(to)) return <span>{children}</span>
  return (
    <a href={to} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

function isWebUrl(text: string): boolean {
  try {
    return ['https:', 'http:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}
