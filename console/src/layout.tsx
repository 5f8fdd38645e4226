import type { SessionInfo } from '@promptledger/client'
import { BookOpenText, LogOut, Moon, Sun, SunMoon } from 'lucide-react'
import { type ReactNode, Suspense } from 'react'
import { Link, useLocation } from 'wouter'
import { ErrorBoundary } from './error-boundary.tsx'
import { lazyPage } from './lazy-page.tsx'
import logo from './logo.svg'
import { useMutation } from './mutation.ts'
import { Navigation } from './navigation.tsx'
import { useFocusOnNavigation } from './navigation-focus.ts'
import { KeyboardNavigation } from './palette/keyboard.tsx'
import { promptIdIn } from './prompt/prompt-path.ts'
import { signOut, switchOrganisation } from './sessions/session.ts'
import { type Theme, useTheme } from './theme.ts'
import { Loading } from './ui/load-state.tsx'
import { UntrustedText, visibleText } from './ui/untrusted-text.tsx'
import { useUrlParams } from './url-params.ts'
import { LimitBanner } from './usage/limit-banner.tsx'

const PromptDialog = lazyPage(async () => (await import('./on-demand.ts')).PromptDialog)

/** The top bar and the main area around every page. */
export function Layout({ session, children }: { session: SessionInfo; children: ReactNode }) {
  const [location] = useLocation()
  const leave = useMutation({ mutationFn: signOut })
  const { organisation, person } = session
  const main = useFocusOnNavigation(location)
  const promptId = promptIdIn(location)
  const action = useUrlParams()[0].get('do')
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
        <Navigation key={location} location={location} session={session} />
        <div className="top-bar-account">
          <span className="top-bar-organisation" title={whoIs(session)}>
            {person !== null && person.organisations.length > 1 ? (
              <OrganisationChoice organisation={organisation} choices={person.organisations} />
            ) : (
              <UntrustedText text={organisation.name} />
            )}
          </span>
          <KeyboardNavigation session={session} />
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
      <LimitBanner session={session} />
      <main id="main" ref={main} tabIndex={-1}>
        <ErrorBoundary key={location}>
          <Suspense fallback={<Loading what="the page" />}>{children}</Suspense>
          <Suspense>
            {promptId !== undefined && action !== null && <PromptDialog promptId={promptId} action={action} />}
          </Suspense>
        </ErrorBoundary>
      </main>
    </>
  )
}

function whoIs({ key, person }: SessionInfo): string {
  if (person !== null && key.hint === '') {
    return `Signed in as ${visibleText(person.name)} (${visibleText(person.email)}, ${person.role})`
  }
  return `Signed in with the ${key.role} key “${visibleText(key.name)}” (…${key.hint})${limitOf(key)}`
}

interface ChoiceProps {
  organisation: SessionInfo['organisation']
  choices: { id: number; name: string }[]
}

/** Switches to another organisation of the person who is signed in. */
function OrganisationChoice({ organisation, choices }: ChoiceProps) {
  const change = useMutation({ mutationFn: switchOrganisation })
  return (
    <select
      aria-label="Organisation"
      value={organisation.id}
      disabled={change.isPending}
      onChange={({ target }) => change.mutate(Number(target.value))}
    >
      {choices.map(({ id, name }) => (
        <option key={id} value={id}>
          {visibleText(name)}
        </option>
      ))}
    </select>
  )
}

function limitOf({ prompts }: SessionInfo['key']): string {
  return prompts === null ? '' : `, limited to ${prompts}`
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
