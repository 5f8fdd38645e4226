import type { Forge } from '@promptledger/client'
import { useId } from 'react'
import { isSsh } from './access-fields.tsx'

/** What a token needs to report on pull requests, in the words of each forge. */
const scopes: Record<Forge, string> = {
  github: 'read and write access to Pull requests and Commit statuses (a classic token: the scope repo)',
  gitlab: 'the scope api and the role Developer',
  gitea: 'the scopes write:issue and write:repository',
  forgejo: 'the scopes write:issue and write:repository',
  bitbucket: 'the scopes pullrequest:write and repository:write',
}

interface Props {
  forge: Forge
  url: string
  checked: boolean
  onChange: (checked: boolean) => void
}

export function ReportsField({ forge, url, checked, onChange }: Props) {
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
        Report on pull requests
      </label>
      <p className="field-hint" id={hintId}>
        Adds one comment to a pull request that made prompts worse, and a status to its commit. {needs}
      </p>
    </div>
  )
}
