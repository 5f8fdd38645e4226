import { Component, type ReactNode } from 'react'
import { Button } from './ui/button.tsx'
import { visibleText } from './ui/untrusted-text.tsx'

/** Shows an error page instead of an empty one if a component crashes. Navigating elsewhere leaves it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null }

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render() {
    const { error } = this.state as { error: Error | null }
    return error === null ? this.props.children : <CrashPage error={error} />
  }
}

function CrashPage({ error }: { error: Error }) {
  return (
    <div className="empty-state" role="alert">
      <h1>This page stopped working</h1>
      <p>
        An error in the console, not in your data. Reload the page. If it happens again, report it with the text below
        and the URL.
      </p>
      <pre>{visibleText(`${error.name}: ${error.message}`)}</pre>
      <div className="page-actions">
        <Button kind="primary" onClick={() => window.location.reload()}>
          Reload
        </Button>
        <a className="button plain" href="/prompts">
          All prompts
        </a>
      </div>
    </div>
  )
}
