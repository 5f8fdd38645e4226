import type { HistoryEntryDetails } from '@promptledger/client'
import { Download, GitCompareArrows, UserRoundSearch } from 'lucide-react'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { saveText } from '../ui/save-file.ts'
import { useUrlParams } from '../url-params.ts'

interface Props {
  promptId: string
  version: HistoryEntryDetails
  liveId: number | null
}

/** What one can do with the text of a version. */
export function TextActions({ promptId, version, liveId }: Props) {
  const [params, setParams] = useUrlParams()
  const { id, after, path, commit_sha: sha } = version
  const isBlame = params.get('blame') === '1'
  const compare = new URLSearchParams(
    liveId === null || liveId === id ? { b: String(id) } : { a: String(id), b: String(liveId) },
  )
  return (
    <div className="page-actions">
      {after !== null && (
        <>
          <CopyButton value={after} label="Copy the whole text">
            Copy
          </CopyButton>
          <Button onClick={() => saveText(after, fileName(path, sha))} aria-label="Download the whole text">
            <Download aria-hidden="true" />
            Download
          </Button>
        </>
      )}
      <Button aria-pressed={isBlame} onClick={() => setParams({ blame: isBlame ? null : '1' })}>
        <UserRoundSearch aria-hidden="true" />
        Blame
      </Button>
      <Link className="button plain" href={`${promptPath(promptId)}/compare?${compare}`}>
        <GitCompareArrows aria-hidden="true" />
        Compare
      </Link>
    </div>
  )
}

/** The name of the file, with the commit before its extension. */
function fileName(path: string | null, sha: string): string {
  const name = path?.split('/').at(-1) ?? 'prompt.txt'
  const dot = name.lastIndexOf('.')
  const end = dot <= 0 ? name.length : dot
  return `${name.slice(0, end)}-${sha.slice(0, 7)}${name.slice(end)}`
}
