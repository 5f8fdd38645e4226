import { type HistoryEntryDetails, type Live, NotFoundError } from '@promptledger/client'
import { Download, GitCompareArrows, UserRoundSearch } from 'lucide-react'
import { Link } from 'wouter'
import { useEntryTexts, useTimelineEntry } from '../prompt/entry-queries.ts'
import { HiddenCharacters } from '../prompt/hidden-characters.tsx'
import { promptPath } from '../prompt/prompt-path.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatPercent } from '../ui/percent.ts'
import { saveText } from '../ui/save-file.ts'
import { useUrlParams } from '../url-params.ts'
import { Blame } from './blame.tsx'
import { missingTextReason } from './missing-text.tsx'
import { TextView } from './text-view.tsx'
import { VersionFacts, VersionTitle } from './version-facts.tsx'

interface Props {
  promptId: string
  entryId: number
  /** The live version, once it is loaded. */
  live: Live | null
}

/** One version: which change made it, and its text. */
export function VersionText({ promptId, entryId, live }: Props) {
  const texts = useEntryTexts(promptId, entryId)
  const item = useTimelineEntry(promptId, entryId)
  const [params] = useUrlParams()
  if (texts.error instanceof NotFoundError) return <UnknownVersion entryId={entryId} />
  if (texts.data === undefined) return <LoadState query={texts} what="the text" />
  const { data } = texts
  return (
    <>
      <div className="version-head">
        <div>
          <h3>
            <VersionTitle entry={data} message={data.message} /> <LiveBadge entryId={entryId} live={live} />
          </h3>
          <VersionFacts entry={data} commitUrl={item.data?.commit_url} />
        </div>
        <TextActions promptId={promptId} version={data} liveId={live?.entry?.id ?? null} />
      </div>
      {data.action === 'pr_opened' || data.action === 'pr_closed' ? (
        <Notice>This is the text in the pull request. It is not a version that went live.</Notice>
      ) : null}
      <HiddenCharacters found={data.hidden_characters} />
      {params.get('blame') === '1' ? (
        <Blame promptId={promptId} entryId={entryId}>
          <Content version={data} />
        </Blame>
      ) : (
        <Content version={data} />
      )}
    </>
  )
}

function Content({ version: { after, after_state: state, path } }: { version: HistoryEntryDetails }) {
  if (after === null) return <p className="muted">{missingTextReason({ state, path })}</p>
  return <TextView text={after} />
}

function LiveBadge({ entryId, live }: Pick<Props, 'entryId' | 'live'>) {
  const versions = live === null ? [] : [live, ...live.also_live]
  const share = versions.reduce((sum, version) => sum + (version.entry?.id === entryId ? version.share : 0), 0)
  if (share === 0) return null
  return <span className="live-badge">{share < 1 ? `Live for ${formatPercent(share)} of traffic` : 'Live'}</span>
}

function UnknownVersion({ entryId }: { entryId: number }) {
  return (
    <EmptyState title="Version not found">
      <p>
        This prompt has no history entry {entryId}. <Link href="?">See the live version</Link> or choose one from the
        list.
      </p>
    </EmptyState>
  )
}

/** The text at the start of the known history, for a repository that was cloned without its oldest commits. */
export function EarliestText({ live: { content, content_state: state, path } }: { live: Live }) {
  return (
    <>
      <div className="version-head">
        <h3>
          The first known text <Badge>Change unknown</Badge>
        </h3>
      </div>
      <Notice tone="caution">The change that made this text live is older than the repository’s known history.</Notice>
      {content === null ? <p className="muted">{missingTextReason({ state, path })}</p> : <TextView text={content} />}
    </>
  )
}

interface TextActionsProps {
  promptId: string
  version: HistoryEntryDetails
  liveId: number | null
}

/** What one can do with the text of a version. */
function TextActions({ promptId, version, liveId }: TextActionsProps) {
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
