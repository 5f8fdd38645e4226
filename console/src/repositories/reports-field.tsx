import type { Forge } from '@promptledger/client'
import { type ReactNode, useId } from 'react'
import { isSsh } from './access-fields.tsx'

/** What a token needs to comment on pull requests, in the words of each forge. */
const reportScopes: Record<Forge, string> = {
  github: 'read and write access to Pull requests and Commit statuses (a classic token: the scope repo)',
  gitlab: 'the scope api and the role Developer',
  gitea: 'the scopes write:issue and write:repository',
  forgejo: 'the scopes write:issue and write:repository',
  bitbucket: 'the scopes pullrequest:write and repository:write',
}

/** What a token needs to propose reverts, in the words of each forge. */
const proposalScopes: Record<Forge, string> = {
  github: 'read and write access to Contents and Pull requests (a classic token: the scope repo)',
  gitlab: 'the scopes api and write_repository, and the role Developer',
  gitea: 'the scope write:repository, and write access to the repository',
  forgejo: 'the scope write:repository, and write access to the repository',
  bitbucket: 'the scopes repository:write and pullrequest:write',
}

/** What a token needs to open issues, in the words of each forge. */
const issueScopes: Record<Exclude<Forge, 'bitbucket'>, string> = {
  github: 'read and write access to Issues (a classic token: the scope repo)',
  gitlab: 'the scope api and the role Reporter',
  gitea: 'the scope write:issue',
  forgejo: 'the scope write:issue',
}

interface Props {
  forge: Forge
  url: string
  checked: boolean
  onChange: (checked: boolean) => void
}

export function ReportsField(props: Props) {
  return (
    <TokenField {...props} label="Report on pull requests" scopes={reportScopes}>
      Adds one comment to a pull request that made prompts worse, and a status to its commit.
    </TokenField>
  )
}

export function ProposalsField(props: Props) {
  return (
    <TokenField {...props} label="Propose reverts by itself" scopes={proposalScopes}>
      Opens a pull request that takes a change back as soon as people are told that it made a prompt worse. It is never
      merged by itself.
    </TokenField>
  )
}

export function IssuesField(props: Props) {
  const { forge } = props
  if (forge === 'bitbucket') return null
  return (
    <TokenField {...props} label="Open issues" scopes={{ ...issueScopes, bitbucket: '' }}>
      Opens one issue for a change that made prompts worse, and closes it when that is over.
    </TokenField>
  )
}

export function BriefingsField(props: Props) {
  return (
    <TokenField {...props} label="Brief reviewers" scopes={reportScopes}>
      Adds one comment to an open pull request that changes prompts: the rate today, what earlier changes to the same
      lines did, reverted text that comes back, hidden characters, and how long a verdict will take.
    </TokenField>
  )
}

interface TokenFieldProps extends Props {
  label: string
  scopes: Record<Forge, string>
  children: ReactNode
}

/** A choice that needs a token, and what the token needs. */
function TokenField({ forge, url, checked, onChange, label, scopes, children }: TokenFieldProps) {
  const hintId = useId()
  const needs = isSsh(url)
    ? 'It needs a token, so connect the repository by https:// instead of SSH.'
    : `The token needs ${scopes[forge]}.`
  return (
    <div>
      <label className="checkbox-line">
        <input
          type="checkbox"
          aria-describedby={hintId}
          checked={checked}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      <p className="field-hint" id={hintId}>
        {children} {needs}
      </p>
    </div>
  )
}
