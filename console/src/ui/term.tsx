import { type ReactNode, type ToggleEvent, useId, useRef, useState } from 'react'
import { type TermName, terms } from './terms.ts'

interface Props {
  name: TermName
  className?: string
  children: ReactNode
}

const widthPx = 320
const marginPx = 8

/** A word that says what it means when it is clicked, or with Enter. Escape and a click elsewhere close it. */
export function Term({ name, className = '', children }: Props) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  function place(event: ToggleEvent<HTMLSpanElement>) {
    // Pages have hundreds of these, so their texts exist only while they are shown.
    setIsOpen(event.newState === 'open')
    const { left, top, bottom } = (button.current as HTMLElement).getBoundingClientRect()
    const { style } = event.currentTarget
    const width = Math.min(widthPx, window.innerWidth - 2 * marginPx)
    style.width = `${width}px`
    style.left = `${Math.max(marginPx, Math.min(left, window.innerWidth - width - marginPx)) + window.scrollX}px`
    const isAbove = top > window.innerHeight * 0.7
    style.top = `${(isAbove ? top - marginPx : bottom + marginPx) + window.scrollY}px`
    style.translate = isAbove ? '0 -100%' : ''
  }
  return (
    <>
      <button ref={button} type="button" className={`term ${className}`} popoverTarget={id}>
        {children}
      </button>
      <span id={id} popover="auto" className="term-text" onBeforeToggle={place}>
        {isOpen && terms[name]}
      </span>
    </>
  )
}
