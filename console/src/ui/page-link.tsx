import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { isShared } from '../shared/token.ts'

/** A link to another page of the console, or only its text in a page that was opened by a share link. */
export function PageLink({ href, children }: { href: string; children: ReactNode }) {
  return isShared ? children : <Link href={href}>{children}</Link>
}
