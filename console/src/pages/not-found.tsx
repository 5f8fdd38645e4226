import { Link } from 'wouter'
import { useTitle } from '../title.ts'
import { Empty } from '../ui/empty.tsx'

export function NotFoundPage() {
  useTitle('Not found')
  return (
    <Empty title="There is nothing here">
      <p>The address may be wrong, the thing gone, or not for the role of your key.</p>
      <Link className="button plain" href="/prompts">
        All prompts
      </Link>
    </Empty>
  )
}
