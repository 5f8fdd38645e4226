import type { SessionInfo } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { BookOpenText, LogOut, Moon, Sun, SunMoon } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import mark from './mark.svg'
import { signOut } from './session.ts'
import { type Theme, useTheme } from './theme.ts'

interface Place {
  name: string
  to: string
  adminOnly?: boolean
}

const places: Place[] = [
  { name: 'Prompts', to: '/prompts' },
  { name: 'Usage', to: '/usage' },
  { name: 'Repositories', to: '/repositories', adminOnly: true },
  { name: 'Keys', to: '/keys', adminOnly: true },
]

/** What is around every page. */
export function Shell({ session, children }: { session: SessionInfo; children: ReactNode }) {
  const [location] = useLocation()
  const leave = useMutation({ mutationFn: signOut })
  const { organisation, key } = session
  const main = useFocusOnArrival(location)
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="shell-bar">
        <Link className="shell-mark" href="/prompts" aria-label="Promptledger, all prompts">
          <img src={mark} alt="" width="26" height="26" />
          <span>Promptledger</span>
        </Link>
        <nav aria-label="Pages" className="shell-places">
          {places
            .filter(({ adminOnly }) => !adminOnly || key.role === 'admin')
            .map(({ name, to }) => (
              <Link key={to} href={to} aria-current={location.startsWith(to) ? 'page' : undefined}>
                {name}
              </Link>
            ))}
        </nav>
        <div className="shell-person">
          <span
            className="shell-organisation"
            title={`Signed in with the key “${key.name}” (…${key.hint}), ${key.role}`}
          >
            {organisation.name}
          </span>
          <ThemeButton />
          <a className="icon-button" href="/docs" aria-label="Interface reference" title="Interface reference">
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

/** Whoever cannot see that another page has come up is told by where the focus is. */
function useFocusOnArrival(location: string) {
  const main = useRef<HTMLElement>(null)
  const arrived = useRef(location)
  useEffect(() => {
    if (arrived.current === location) return
    arrived.current = location
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [location])
  return main
}

const themes: Record<Theme, { icon: typeof Sun; next: Theme; name: string }> = {
  system: { icon: SunMoon, next: 'light', name: 'as the system' },
  light: { icon: Sun, next: 'dark', name: 'light' },
  dark: { icon: Moon, next: 'system', name: 'dark' },
}

function ThemeButton() {
  const [theme, setTheme] = useTheme()
  const { icon: Icon, next, name } = themes[theme]
  const label = `Colours: ${name}. Change to ${themes[next].name}`
  return (
    <button type="button" className="icon-button" onClick={() => setTheme(next)} aria-label={label} title={label}>
      <Icon aria-hidden="true" />
    </button>
  )
}
