import { Link } from 'wouter'
import { CodeBlock } from '../ui/code-block.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

/** Says what a trial is, and what it needs. */
export function NoTrials({ isAdmin }: { isAdmin: boolean }) {
  return (
    <EmptyState title="No trials yet">
      <p>
        A trial serves a pull request to a share of your users, chosen at random, before you merge it. Their votes are
        compared with those of everyone else at the same time. A candidate that is worse is stopped within 30 seconds.
      </p>
      <ol className="trial-needs">
        <li>
          {isAdmin ? (
            <>
              Turn on text delivery in the <Link href="/settings">settings</Link>.
            </>
          ) : (
            'An admin turns on text delivery in the settings.'
          )}
        </li>
        <li>
          Your application fetches each text with the user or conversation as <code>unit</code>, using a key with the
          role <code>delivery</code>.
        </li>
        <li>
          Its votes name the <code>version</code> that it got, and the unit as <code>voter</code>.
        </li>
      </ol>
      <p>Then try a pull request here, or from the command line:</p>
      <CodeBlock code="promptledger try 41 --share 10%" what="command" />
    </EmptyState>
  )
}
