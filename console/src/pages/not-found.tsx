import { Link } from 'wouter'
import { useTitle } from '../title.ts'

export function NotFoundPage() {
  useTitle('Not found')
  return (
    <div className="empty">
      <h1>There is nothing here</h1>
      <p>The address may be wrong, the thing gone, or not for the role of your key.</p>
      <Link className="button plain" href="/prompts">
        All prompts
      </Link>
    </div>
  )
}
