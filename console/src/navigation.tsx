import { Menu, X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { Link } from 'wouter'

interface NavLink {
  label: string
  to: string
  adminOnly?: boolean
}

const navLinks: NavLink[] = [
  { label: 'Prompts', to: '/prompts' },
  { label: 'Regressions', to: '/regressions' },
  { label: 'Trials', to: '/trials' },
  { label: 'Usage', to: '/usage' },
  { label: 'Repositories', to: '/repositories', adminOnly: true },
  { label: 'Alerts', to: '/alerts', adminOnly: true },
  { label: 'Keys', to: '/keys', adminOnly: true },
  { label: 'Audit', to: '/audit', adminOnly: true },
  { label: 'Settings', to: '/settings', adminOnly: true },
]

/** The pages that a key may see. */
export function linksFor(isAdmin: boolean): NavLink[] {
  return navLinks.filter(({ adminOnly }) => !adminOnly || isAdmin)
}

/** The links to the pages. On a phone they are behind a button, so that the page starts near the top. */
export function Navigation({ location, isAdmin }: { location: string; isAdmin: boolean }) {
  const [isOpen, setIsOpen] = useState(false)
  const toggle = useRef<HTMLButtonElement>(null)
  const links = linksFor(isAdmin)
  function closeOnEscape({ key }: KeyboardEvent) {
    if (key !== 'Escape' || !isOpen) return
    setIsOpen(false)
    toggle.current?.focus()
  }
  return (
    <nav aria-label="Main" className="top-bar-nav" onKeyDown={closeOnEscape}>
      <button
        type="button"
        ref={toggle}
        className="icon-button top-bar-menu"
        aria-label="Menu"
        aria-expanded={isOpen}
        aria-controls="top-bar-links"
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? <X aria-hidden="true" /> : <Menu aria-hidden="true" />}
      </button>
      <div id="top-bar-links" className="top-bar-links" data-open={isOpen}>
        {links.map(({ label, to }) => (
          <Link key={to} href={to} aria-current={location.startsWith(to) ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </div>
    </nav>
  )
}
