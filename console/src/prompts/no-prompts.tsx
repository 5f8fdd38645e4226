import type { SessionInfo } from '@promptledger/client'
import { Link } from 'wouter'
import { textSearchPath } from '../prompt/prompt-path.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

interface Props {
  session: SessionInfo
  onSetUp: () => void
}

export function NoPrompts({ session: { organisation, key }, onSetUp }: Props) {
  if (key.prompts !== null) {
    return (
      <EmptyState title="No prompts yet">
        <p>
          No prompt matches <code>{key.prompts}</code>, which your key is limited to.
        </p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No prompts yet">
      <p>
        Connect the git repository that holds the prompts of <UntrustedText text={organisation.name} />. Each file
        becomes a prompt, and its commits and pull requests become its history.
      </p>
      {key.role === 'admin' ? (
        <div className="page-actions">
          <Link className="button primary" href="/repositories?connect">
            Connect a repository
          </Link>
          <Button onClick={onSetUp}>Set up step by step</Button>
        </div>
      ) : (
        <p>This requires an admin key. Ask your administrator.</p>
      )}
      <p>Or run this on the server:</p>
      <CodeBlock code={connectCommand(organisation.id)} what="command" />
    </EmptyState>
  )
}

/** With a public example of a URL, which has to be replaced. */
function connectCommand(organisationId: number): string {
  return `promptledger repo connect --org ${organisationId} --forge github --url https://github.com/acme/prompts.git --path "prompts/**/*.md"`
}

export function NoMatchingPrompts({ query }: { query: string }) {
  return (
    <EmptyState title="No matching prompts">
      <p>
        No prompt has “<UntrustedText text={query} />” in its name or path.
      </p>
      <p>
        <Link href={textSearchPath(query)}>Search in the texts of all prompts</Link>
      </p>
    </EmptyState>
  )
}
