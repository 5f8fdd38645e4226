import { type ReactNode, useEffect } from 'react'
import { visibleText } from './ui/untrusted-text.tsx'

/** Sets the title of the browser tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${visibleText(title)} · Promptledger`
  }, [title])
}

/** The heading of a page, which is also its title, beside what can be done there. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  usePageTitle(title)
  return (
    <div className="page-head">
      <h1>{title}</h1>
      {children}
    </div>
  )
}

interface Props {
  /** Links to the pages above. */
  breadcrumbs: ReactNode
  title: ReactNode
  /** Its state, beside the title. */
  badge?: ReactNode
  /** Below the title. */
  ids?: ReactNode
  /** What can be done with it. */
  children: ReactNode
}

/** The heading of the page of one thing. */
export function SubjectHead({ breadcrumbs, title, badge, ids, children }: Props) {
  return (
    <div className="page-head">
      <div>
        <nav className="breadcrumbs" aria-label="Breadcrumbs">
          {breadcrumbs}
        </nav>
        <div className="title-with-badge">
          <h1>{title}</h1>
          {badge}
        </div>
        {ids !== undefined && <div className="prompt-head-ids muted">{ids}</div>}
      </div>
      {children}
    </div>
  )
}
