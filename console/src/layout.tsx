import type { SessionInfo } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { BookOpenText, LogOut, Moon, Sun, SunMoon } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import logo from './logo.svg'
import { signOut } from './sessions/session.ts'
import { type Theme, useTheme } from './theme.ts'
import { UntrustedText, visibleText } from './ui/untrusted-text.tsx'

interface NavLink {
  label: string
  to: string
  adminOnly?: boolean
}

const navLinks: NavLink[] = [
  { label: 'Prompts', to: '/prompts' },
  { label: 'Usage', to: '/usage' },
  { label: 'Repositories', to: '/repositories', adminOnly: true },
  { label: 'Alerts', to: '/alerts', adminOnly: true },
  { label: 'Keys', to: '/keys', adminOnly: true },
]

/** The top bar and the main area around every page. */
export function Layout({ session, children }: { session: SessionInfo; children: ReactNode }) {
  const [location] = useLocation()
  const leave = useMutation({ mutationFn: signOut })
  const { organisation, key } = session
  const main = useFocusOnNavigation(location)
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="top-bar">
        <Link className="top-bar-logo" href="/prompts" aria-label="Promptledger, all prompts">
          <img src={logo} alt="" width="26" height="26" />
          <span>Promptledger</span>
        </Link>
        <nav aria-label="Main" className="top-bar-nav">
          {navLinks
            .filter(({ adminOnly }) => !adminOnly || key.role === 'admin')
            .map(({ label, to }) => (
              <Link key={to} href={to} aria-current={location.startsWith(to) ? 'page' : undefined}>
                {label}
              </Link>
            ))}
        </nav>
        <div className="top-bar-account">
          <span
            className="top-bar-organisation"
            title={`Signed in with the ${key.role} key “${visibleText(key.name)}” (…${key.hint})${limitOf(key)}`}
          >
            <UntrustedText text={organisation.name} />
          </span>
          <ThemeButton />
          <a className="icon-button" href="/docs" aria-label="API reference" title="API reference">
            <BookOpenText aria-hidden="true" />
          </a>
          <button
            type="button"
            className="icon-button"
            onClick={() => leave.mutate()}
            disabled={leave.isPending}
            aria-label="Sign out"
            title="Sign out"
          >
            <LogOut aria-hidden="true" />
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

function limitOf({ prompts }: SessionInfo['key']): string {
  return prompts === null ? '' : `, limited to ${prompts}`
}

/** Moves the focus to the new page, so that screen readers notice the navigation. */
function useFocusOnNavigation(location: string) {
  const main = useRef<HTMLElement>(null)
  const previous = useRef(location)
  useEffect(() => {
    if (previous.current === location) return
    previous.current = location
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [location])
  return main
}

const themes: Record<Theme, { icon: typeof Sun; next: Theme }> = {
  system: { icon: SunMoon, next: 'light' },
  light: { icon: Sun, next: 'dark' },
  dark: { icon: Moon, next: 'system' },
}

function ThemeButton() {
  const [theme, setTheme] = useTheme()
  const { icon: Icon, next } = themes[theme]
  const label = `Theme: ${theme}. Switch to ${next}`
  return (
    <button type="button" className="icon-button" onClick={() => setTheme(next)} aria-label={label} title={label}>
      <Icon aria-hidden="true" />
    </button>
  )
}
