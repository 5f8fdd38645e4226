import { useEffect } from 'react'
import { visibleText } from './ui/untrusted-text.tsx'

/** Sets the title of the browser tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${visibleText(title)} · Promptledger`
  }, [title])
}
