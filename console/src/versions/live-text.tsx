import type { Live, Prompt } from '@promptledger/client'
import { type RefObject, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { promptPath } from '../prompt/prompt-path.ts'
import { LiveVersions } from '../signals/live-versions.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { useIsPhone } from '../ui/media-query.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { useIsCut } from './cut-element.ts'
import { type LivePlace, livePlaces } from './live-places.ts'
import { LiveWhere } from './live-where.tsx'
import { NoLiveText } from './no-live-text.tsx'
import { NumberedLines } from './numbered-lines.tsx'
import { countLines, linesFrom } from './text-lines.ts'
import { missingTextReason } from './text-state.ts'
import { VersionFacts, VersionTitle } from './version-facts.tsx'
import { useLive } from './version-queries.ts'

/** The version of a prompt that is live now: its text, who changed it when, and where it runs. */
export function LiveText({ prompt }: { prompt: Prompt }) {
  const live = useLive(prompt.id)
  if (live.isLoadingError) return <LoadError error={live.error} retry={live.refetch} />
  return (
    <section className="card live-text" aria-labelledby="live-title" aria-busy={live.isPending}>
      {live.data === null && <NoLiveText prompt={prompt} />}
      {live.data === undefined && <h2 id="live-title">Live version</h2>}
      {live.data && <LiveCard promptId={prompt.id} live={live.data} />}
    </section>
  )
}

function LiveCard({ promptId, live }: { promptId: string; live: Live }) {
  const { entry, content } = live
  const isPhone = useIsPhone()
  const [isOpen, setIsOpen] = useState(false)
  const [isExpanded, setIsExpanded] = useState(false)
  const [preview, isCut] = useIsCut<HTMLDivElement>()
  const item = useTimelineEntry(promptId, entry?.id ?? null)
  const places = livePlaces(live)
  const isSplit = live.also_live.length > 0 && (isOpen || !isPhone)
  // Versions that share the traffic of production are in the table, with their figures.
  const listed = isSplit ? places.filter(({ isProduction }) => !isProduction) : places
  const textPath = `${promptPath(promptId)}/text`
  return (
    <>
      <div className="live-head">
        <div>
          <h2 id="live-title">
            <span className="live-badge">Live</span>{' '}
            {entry === null ? (
              'A version older than the known history'
            ) : (
              <VersionTitle entry={entry} message={item.data?.message} />
            )}
          </h2>
          {entry !== null && (
            <VersionFacts entry={entry} commitUrl={item.data?.commit_url} isShort={isPhone && !isOpen} />
          )}
        </div>
        {isPhone && (
          <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? 'Hide text' : 'Show text'}
          </Button>
        )}
        {(isOpen || !isPhone) && (
          <div className="page-actions">
            {content !== null && (isCut || isExpanded) && (
              <button
                type="button"
                className="text-button"
                aria-expanded={isExpanded}
                onClick={() => setIsExpanded(!isExpanded)}
              >
                {isExpanded ? 'Show less' : `Show all ${countOf(countLines(content), 'line')}`}
              </button>
            )}
            {content !== null && (
              <CopyButton value={content} label="Copy the live text">
                Copy
              </CopyButton>
            )}
            <Link className="button plain" href={textPath}>
              All versions
            </Link>
          </div>
        )}
      </div>
      {isDeployed(listed) && <LiveWhere promptId={promptId} places={listed} />}
      {(isOpen || !isPhone) &&
        (content === null ? (
          <p className="muted">{missingTextReason({ state: live.content_state, path: live.path })}</p>
        ) : (
          <Preview text={content} textPath={textPath} box={preview} isCut={isCut} isExpanded={isExpanded} />
        ))}
      {(isOpen || !isPhone) && <LiveVersions promptId={promptId} />}
    </>
  )
}

/** Without any deployment, the merge alone makes a version live, and there is nothing to list. */
function isDeployed(places: LivePlace[]): boolean {
  return places.some(({ environment }) => environment !== null)
}

// More than the style sheet leaves visible, so that a longer text is cut.
const shortLines = 20
const maxLines = 300

interface PreviewProps {
  text: string
  textPath: string
  box: RefObject<HTMLDivElement | null>
  isCut: boolean
  isExpanded: boolean
}

/** The first lines, as many as leave the chart in view, and the others on request. */
function Preview({ text, textPath, box, isCut, isExpanded }: PreviewProps) {
  const total = useMemo(() => countLines(text), [text])
  const lines = useMemo(() => linesFrom(text, 1, isExpanded ? maxLines : shortLines), [text, isExpanded])
  if (text === '') return <p className="muted">The live version is an empty file.</p>
  return (
    <>
      <div className={isExpanded ? 'text-lines' : 'text-lines preview'} data-cut={isCut} ref={box}>
        <NumberedLines lines={lines} />
      </div>
      {isExpanded && total > maxLines && (
        <p className="muted small">
          These are the first {formatNumber(maxLines)} of {formatNumber(total)} lines.{' '}
          <Link href={textPath}>See the whole text</Link>
        </p>
      )}
    </>
  )
}
