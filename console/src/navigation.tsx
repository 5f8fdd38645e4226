import type { SessionInfo } from '@promptledger/client'
import { Menu, X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { Link } from 'wouter'
import { canManageKeys } from './sessions/rights.ts'

interface NavLink {
  label: string
  to: string
  /** Who sees it, if not everyone. */
  isFor?: (session: SessionInfo) => boolean
}

const isAdmin = ({ key }: SessionInfo) => key.role === 'admin'

const navLinks: NavLink[] = [
  { label: 'Prompts', to: '/prompts' },
  { label: 'Regressions', to: '/regressions' },
  { label: 'Trials', to: '/trials' },
  { label: 'Usage', to: '/usage' },
  { label: 'Repositories', to: '/repositories', isFor: isAdmin },
  { label: 'Sources', to: '/sources', isFor: isAdmin },
  { label: 'Alerts', to: '/alerts', isFor: isAdmin },
  { label: 'Keys', to: '/keys', isFor: canManageKeys },
  { label: 'People', to: '/people' },
  { label: 'Audit', to: '/audit', isFor: isAdmin },
  { label: 'Settings', to: '/settings', isFor: isAdmin },
]

/** The pages that are shown in a session. */
export function linksFor(session: SessionInfo): NavLink[] {
  return navLinks.filter(({ isFor = () => true }) => isFor(session))
}

/** The links to the pages. On a phone they are behind a button, so that the page starts near the top. */
export function Navigation({ location, session }: { location: string; session: SessionInfo }) {
  const [isOpen, setIsOpen] = useState(false)
  const toggle = useRef<HTMLButtonElement>(null)
  const links = linksFor(session)
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
