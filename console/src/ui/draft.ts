import { useState } from 'react'

/** What the user types, until the value that it is about changes: then that value. */
export function useDraft(value: string): [string, (draft: string) => void] {
  const [draft, setDraft] = useState(value)
  const [latest, setLatest] = useState(value)
  // While rendering, not in an effect: the page would show the new value beside the old text for a moment.
  if (latest !== value) {
    setLatest(value)
    setDraft(value)
    return [value, setDraft]
  }
  return [draft, setDraft]
}
