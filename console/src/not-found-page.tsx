import { Link } from 'wouter'
import { usePageTitle } from './page-head.tsx'

export function NotFoundPage() {
  usePageTitle('Page not found')
  return (
    <div className="empty-state">
      <h1>Page not found</h1>
      <p>It may have been deleted, or your key lacks access.</p>
      <Link className="button plain" href="/prompts">
        All prompts
      </Link>
    </div>
  )
}
