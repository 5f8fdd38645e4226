import { Link } from 'wouter'
import { EmptyState } from '../ui/empty-state.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

const connectCommand =
  'promptledger repo connect --org 1 --forge github --url https://github.com/acme/prompts.git --path "prompts/**/*.md"'

export function NoPrompts({ isAdmin }: { isAdmin: boolean }) {
  return (
    <EmptyState title="No prompts yet">
      <p>
        Connect the git repository that holds your prompts. Each file becomes a prompt, and its commits and pull
        requests become its history.
      </p>
      {isAdmin ? (
        <Link className="button primary" href="/repositories?connect">
          Connect a repository
        </Link>
      ) : (
        <p>This requires an admin key. Ask your administrator, or run this on the server:</p>
      )}
      <pre>{connectCommand}</pre>
    </EmptyState>
  )
}

export function NoMatchingPrompts({ query }: { query: string }) {
  return (
    <EmptyState title="No matching prompts">
      <p>
        No prompt has “<UntrustedText text={query} />” in its name or path.
      </p>
    </EmptyState>
  )
}
