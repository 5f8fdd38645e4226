import type { SessionInfo } from '@promptledger/client'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { shortcuts } from '../shortcuts.ts'
import { Dialog, focusOnOpen } from '../ui/dialog.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { type PaletteGroup, type PaletteItem, usePaletteGroups } from './palette-items.ts'

const typingDelayMs = 150

interface Props {
  session: SessionInfo
  onShortcuts: () => void
  onClose: () => void
}

/** Finds a prompt, a change, a page or an action by a few letters, with the keyboard alone. */
export function Palette({ session, onShortcuts, onClose }: Props) {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const query = useDelayed(text.trim())
  const { groups, isPending } = usePaletteGroups(session, query, onShortcuts)
  const items = groups.flatMap((group) => group.items)
  const current = Math.min(selected, items.length - 1)
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  const idOf = (place: number) => `${listId}-${place}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: other results, other places.
  useEffect(() => setSelected(0), [query])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  })

  function choose(item: PaletteItem | undefined) {
    if (item === undefined) return
    onClose()
    if (item.to !== undefined) navigate(item.to)
    else item.run?.()
  }
  function onKeyDown(event: KeyboardEvent) {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const move = moves[event.key]
    if (event.key === 'Enter') choose(items[current])
    else if (move !== undefined && items.length > 0) setSelected((current + move + items.length) % items.length)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <div className="palette">
        <input
          ref={focusOnOpen}
          type="text"
          role="combobox"
          aria-label="Prompt, change, page or action"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={items.length === 0 ? undefined : idOf(current)}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Prompt, change, page or action"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
        />
        <div ref={list} id={listId} role="listbox" aria-label="Results">
          {groups.map((group, i) => (
            <Group
              key={group.name}
              group={group}
              first={groups.slice(0, i).reduce((sum, { items: { length } }) => sum + length, 0)}
              current={current}
              idOf={idOf}
              onPoint={setSelected}
              onChoose={choose}
            />
          ))}
        </div>
        <p role="status" className="muted small">
          {groups.every(({ name }) => name === 'Texts') && !isPending ? 'Nothing found by name.' : ''}
        </p>
      </div>
    </Dialog>
  )
}

interface GroupProps {
  group: PaletteGroup
  /** The place of its first item among all. */
  first: number
  current: number
  idOf: (place: number) => string
  onPoint: (place: number) => void
  onChoose: (item: PaletteItem) => void
}

function Group({ group: { name, items }, first, current, idOf, onPoint, onChoose }: GroupProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be part of a listbox.
    <div role="group" aria-label={name}>
      <div className="palette-group" aria-hidden="true">
        {name}
      </div>
      {items.map((item, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys.
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above.
        <div
          key={item.key}
          id={idOf(first + i)}
          role="option"
          aria-selected={first + i === current}
          className="palette-item"
          onPointerMove={() => onPoint(first + i)}
          onClick={() => onChoose(item)}
        >
          <span>
            <UntrustedText text={item.label} />
          </span>
          {item.note !== undefined && (
            <span className="muted small">
              <UntrustedText text={item.note} />
            </span>
          )}
        </div>
      ))}
    </div>
  )
}

/** A text that follows typing after a pause. */
function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text])
  return delayed
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

export function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcut-list">
        {shortcuts.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key === 'Ctrl' && isMac ? '⌘' : key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
