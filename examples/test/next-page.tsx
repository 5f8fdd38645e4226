import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { VoteButtons } from '../next-route/vote-buttons.tsx'

// A page of an application, with one output of its model.
const { output = '', version = '' } = Object.fromEntries(new URLSearchParams(location.search))

createRoot(document.querySelector('main') as HTMLElement).render(
  <StrictMode>
    <h1>Chat</h1>
    <p>You asked: Why?</p>
    <VoteButtons output={output} version={version} />
  </StrictMode>,
)
