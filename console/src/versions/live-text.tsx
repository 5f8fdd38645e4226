import type { Live, Prompt } from '@promptledger/client'
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { titleOf } from '../prompt/entry-title.ts'
import { promptPath } from '../prompt/prompt-path.ts'
import { LiveVersions } from '../signals/live-versions.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { useIsPhone } from '../ui/media-query.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatPercent } from '../ui/percent.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { missingTextReason, NoLiveText } from './missing-text.tsx'
import { NumberedLines } from './numbered-lines.tsx'
import { countLines, linesFrom } from './text-lines.ts'
import { VersionFacts, VersionTitle } from './version-facts.tsx'
import { useLive, useVersions } from './version-queries.ts'

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

/** A ref for an element with a maximum height, and whether its content is higher. */
function useIsCut<Kind extends HTMLElement>(): readonly [RefObject<Kind | null>, boolean] {
  const element = useRef<Kind>(null)
  const [isCut, setIsCut] = useState(false)
  // After each render: the content may have changed. The observer reports lines that wrap differently.
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = () => setIsCut(current.scrollHeight > current.clientHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  })
  return [element, isCut]
}

const maxPlaces = 20

interface Props {
  promptId: string
  places: LivePlace[]
}

/** Which version every environment runs, with its share of the traffic. */
function LiveWhere({ promptId, places }: Props) {
  const left = places.length - maxPlaces
  const versions = useVersions(promptId, { q: '', page: 1 })
  const titles = new Map(versions.data?.data.map(({ entry, message }) => [entry.id, titleOf(entry, message)]))
  return (
    <ul className="live-where" aria-label="Live versions by environment">
      {places.slice(0, maxPlaces).map(({ environment, isProduction, share, entryId, commitSha }) => (
        <li key={`${environment} ${commitSha}`} data-production={isProduction}>
          <span className="live-environment">
            {environment === null ? 'Merged' : <UntrustedText text={environment} />}
          </span>
          {share < 1 && <span>{formatPercent(share)} of traffic</span>}
          {entryId === null ? (
            <code>{commitSha.slice(0, 7)}</code>
          ) : (
            <Link href={`${promptPath(promptId)}/text?version=${entryId}`}>
              {titles.has(entryId) ? (
                <UntrustedText text={titles.get(entryId) ?? ''} />
              ) : (
                <code>{commitSha.slice(0, 7)}</code>
              )}
            </Link>
          )}
          {entryId === null && <span>no known version</span>}
        </li>
      ))}
      {left > 0 && <li>and {left} more</li>}
    </ul>
  )
}

/** A version that serves an environment, or a part of its traffic. */
interface LivePlace {
  /** Null if only the merge says that it is live. */
  environment: string | null
  isProduction: boolean
  share: number
  /** Null if it is not known which version the deployed commit has. */
  entryId: number | null
  commitSha: string
}

/** The live version in each environment: production as the service decides it, then the other environments. */
function livePlaces({ entry, environment, share, also_live: others, environments }: Live): LivePlace[] {
  const production = entry === null ? [] : [{ entry, environment, share }, ...others]
  return [
    ...production.map((version) => ({
      environment: version.environment,
      isProduction: true,
      share: version.share,
      entryId: version.entry.id,
      commitSha: version.entry.commit_sha,
    })),
    ...environments
      .filter((each) => !each.production)
      .flatMap((each) =>
        each.versions.map((version) => ({
          environment: each.environment,
          isProduction: false,
          share: version.share,
          entryId: version.entry?.id ?? null,
          commitSha: version.commit_sha ?? version.entry?.commit_sha ?? '',
        })),
      ),
  ]
}
