import { useSyncExternalStore } from 'react'

// Where the style sheets switch to one column.
const phone = window.matchMedia('(max-width: 720px)')

/** Whether the window is as narrow as a phone now. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => phone.matches)
}

function subscribe(onChange: () => void): () => void {
  phone.addEventListener('change', onChange)
  return () => phone.removeEventListener('change', onChange)
}
