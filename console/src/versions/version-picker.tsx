import type { TimelineEntry } from '@promptledger/client'
import { ChevronDown } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { titleOf } from '../prompt/entry-title.ts'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import { VersionList } from './version-list.tsx'

interface Props {
  label: string
  promptId: string
  entryId: number
  /** The chosen version, once it is loaded. */
  item: TimelineEntry | undefined
  hrefOf: (entryId: number) => string
}

/** A button with the chosen version, which opens the list of versions. Escape closes it. */
export function VersionPicker({ label, promptId, entryId, item, hrefOf }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const [{ q, page }, setSearch] = useState({ q: '', page: 1 })
  const picker = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const panelId = useId()
  useCloseOnLeave(picker, isOpen, setIsOpen)
  // Choosing a version closes the list. Its link, which had the focus, is gone then.
  const chosen = useRef(entryId)
  useEffect(() => {
    if (chosen.current === entryId) return
    chosen.current = entryId
    setIsOpen((wasOpen) => {
      if (wasOpen) button.current?.focus()
      return false
    })
  }, [entryId])
  function closeOnEscape(event: KeyboardEvent) {
    if (event.key !== 'Escape' || !isOpen) return
    event.stopPropagation()
    setIsOpen(false)
    button.current?.focus()
  }
  const title = item === undefined ? `Entry ${entryId}` : titleOf(item.entry, item.message)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut; the button closes the list too.
    <div className="version-picker" ref={picker} onKeyDown={closeOnEscape}>
      <button
        type="button"
        className="button plain"
        ref={button}
        aria-expanded={isOpen}
        aria-controls={panelId}
        aria-label={`${label}: ${visibleText(title)}. Choose another version`}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span>
          <UntrustedText text={title} />
        </span>
        <ChevronDown aria-hidden="true" />
      </button>
      <div id={panelId}>
        {isOpen && (
          <div className="card version-panel">
            <VersionList
              promptId={promptId}
              selected={entryId}
              q={q}
              page={page}
              onSearch={(text) => setSearch({ q: text, page: 1 })}
              onPage={(next) => setSearch({ q, page: next })}
              hrefOf={hrefOf}
            />
          </div>
        )}
      </div>
    </div>
  )
}

/** Closes the list when the focus or a click goes elsewhere. */
function useCloseOnLeave(
  picker: React.RefObject<HTMLDivElement | null>,
  isOpen: boolean,
  setIsOpen: (isOpen: boolean) => void,
): void {
  useEffect(() => {
    if (!isOpen) return
    const close = ({ target }: Event) => {
      if (target instanceof Node && target !== document && !picker.current?.contains(target)) setIsOpen(false)
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('focusin', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('focusin', close)
    }
  }, [picker, isOpen, setIsOpen])
}
