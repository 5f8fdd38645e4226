import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { prefetchFirstView } from './first-view.ts'
import { watchTraversal } from './navigation-focus.ts'
import { queryClient } from './query-client.ts'
import { watchHistory } from './ui/leave-guard.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/term.css'
import './styles/controls.css'
import './styles/forms.css'
import './styles/connection.css'
import './styles/layout.css'
import './styles/states.css'
import './styles/table.css'
import './styles/untrusted-text.css'
import './styles/copy-button.css'
import './prompts/prompts.css'
import './prompts/attention.css'
import './setup/set-up.css'
import './versions/prompt-head.css'
import './versions/versions.css'
import './versions/text-page.css'
import './versions/compare.css'
import './versions/blame.css'
import './prompt/chart.css'
import './prompt/timeline.css'
import './prompt/change.css'
import './prompt/diff.css'
import './signals/signals.css'
import './signals/change-signals.css'
import './usage/usage.css'
import './repositories/repositories.css'
import './alerts/alerts.css'
import './sources/sources.css'
import './regressions/regressions.css'
import './trials/trials.css'
import './keys/keys.css'
import './sessions/sign-in.css'
// Last, because they override the others.
import './palette/palette.css'
import './styles/touch.css'
import './styles/print.css'

watchHistory()
watchTraversal()
await prefetchFirstView()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ErrorBoundary>
        <App />
      </ErrorBoundary>
    </QueryClientProvider>
  </StrictMode>,
)
