import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { queryClient } from './query-client.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/forms.css'
import './styles/layout.css'
import './styles/states.css'
import './styles/table.css'
import './styles/untrusted-text.css'
import './prompts/prompts.css'
import './prompt/chart.css'
import './prompt/timeline.css'
import './prompt/diff.css'
import './signals/signals.css'
import './usage/usage.css'
import './repositories/repositories.css'
import './alerts/alerts.css'
import './regressions/regressions.css'
import './keys/keys.css'
import './sessions/sign-in.css'

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
