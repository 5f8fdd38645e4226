import type { ReactNode } from 'react'

interface Props {
  to: string
  className?: string
  children: ReactNode
}

/** A link to another site. The URL is untrusted: anything but http and https is shown as plain text. */
export function ExternalLink({ to, className, children }: Props) {
  if (!isWebUrl(to)) return <span>{children}</span>
  return (
    <a className={className} href={to} target="_blank" rel="noreferrer noopener">
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
