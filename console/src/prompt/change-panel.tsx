import { NotFoundError, type Regression, type TimelineEntry } from '@promptledger/client'
import { useIsFetching } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { LoadError, Loading } from '../ui/load-state.tsx'
import { ChangeContent } from './change-content.tsx'
import { useTimelineEntry } from './entry-queries.ts'

interface Props {
  promptId: string
  entryId: number
  /** Changes that need no request. */
  loaded: TimelineEntry[]
  regressions: Regression[]
  /** Selected by the URL that the page was opened with. */
  isDeepLink: boolean
  onClose: () => void
}

/** The selected change, beside the chart and the history. */
export function ChangePanel({ promptId, entryId, loaded, regressions, isDeepLink, onClose }: Props) {
  const entry = useTimelineEntry(promptId, entryId, loaded)
  const panel = usePanelFocus(entryId, isDeepLink, entry.isFetched)
  const isUnknown = entry.error instanceof NotFoundError
  function closeOnEscape(event: KeyboardEvent) {
    // A dialog on top of the panel closes first.
    if (event.key === 'Escape' && !event.defaultPrevented) onClose()
  }
  return (
    <aside
      ref={panel}
      className="card change-panel"
      aria-label="Selected change"
      tabIndex={-1}
      onKeyDown={closeOnEscape}
    >
      <button type="button" className="icon-button change-close" aria-label="Close" onClick={onClose}>
        <X aria-hidden="true" />
      </button>
      {entry.isPending && <Loading what="the change" />}
      {entry.isError && !isUnknown && <LoadError error={entry.error} retry={entry.refetch} />}
      {isUnknown && <p>This entry is not part of the history. It may have been deleted, or the link is wrong.</p>}
      {entry.data && (
        <ChangeContent
          promptId={promptId}
          item={entry.data}
          regression={regressions.find(({ change }) => change.id === entryId) ?? null}
        />
      )}
    </aside>
  )
}

/** Moves the focus to the panel when a change is selected, and back to where it was selected when it closes. */
function usePanelFocus(entryId: number, isDeepLink: boolean, isLoaded: boolean) {
  const panel = useRef<HTMLElement>(null)
  const isIdle = useIsFetching() === 0 && isLoaded
  const isSettled = useRef(!isDeepLink)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each change.
  useEffect(() => {
    if (!isSettled.current) return
    panel.current?.focus({ preventScroll: true })
    bringIntoView(panel.current as HTMLElement)
  }, [entryId])
  useEffect(() => {
    if (isSettled.current || !isIdle) return
    // The elements above have their final height now.
    isSettled.current = true
    bringIntoView(panel.current as HTMLElement)
  }, [isIdle])
  useLayoutEffect(() => {
    const element = panel.current
    return () => {
      const opener = document.querySelector<HTMLElement>(`[data-opens="${entryId}"]`)
      if (element?.contains(document.activeElement)) opener?.focus({ preventScroll: true })
    }
  }, [entryId])
  return panel
}

function bringIntoView(panel: HTMLElement): void {
  const { top, bottom } = panel.getBoundingClientRect()
  // Beside the chart, it is taller than the screen and starts at its top.
  const isBeside = getComputedStyle(panel).position === 'sticky'
  const isInView = top >= 0 && (isBeside ? top < window.innerHeight / 4 : bottom <= window.innerHeight)
  if (!isInView) panel.scrollIntoView({ block: 'start' })
}
