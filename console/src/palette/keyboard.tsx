import type { SessionInfo } from '@promptledger/client'
import { Search } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { lazyPage } from '../lazy-page.tsx'
import { isDialogOpen, useShortcut } from '../shortcuts.ts'

const Palette = lazyPage(async () => (await import('../on-demand.ts')).Palette)
const ShortcutList = lazyPage(async () => (await import('../on-demand.ts')).ShortcutList)

/** What `j` and `k` move between. */
const rows = '.row-link, .timeline-title, .version-list a'

/** The shortcuts of every page, and the button that opens the palette. */
export function KeyboardNavigation({ session }: { session: SessionInfo }) {
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null)
  const close = () => setOpen(null)
  useShortcut('?', () => setOpen('shortcuts'))
  useShortcut('j', () => moveInList(1))
  useShortcut('k', () => moveInList(-1))
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isAsked =
        event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
      if (!isAsked || isDialogOpen()) return
      event.preventDefault()
      setOpen('palette')
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Search"
        title="Search (Ctrl K)"
        onClick={() => setOpen('palette')}
      >
        <Search aria-hidden="true" />
      </button>
      <Suspense>
        {open === 'palette' && <Palette session={session} onShortcuts={() => setOpen('shortcuts')} onClose={close} />}
        {open === 'shortcuts' && <ShortcutList onClose={close} />}
      </Suspense>
    </>
  )
}

/** Focuses the next or previous row of the page, so that Enter opens it. */
function moveInList(step: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(`main :is(${rows})`)].filter(
    (row) => row.offsetParent !== null,
  )
  const at = all.findIndex((row) => row.contains(document.activeElement))
  // From elsewhere on the page, the first row that is in view.
  const first = all.findIndex((row) => row.getBoundingClientRect().top >= 0)
  const next = all[at === -1 ? Math.max(0, first) : at + step]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}
