import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** A ref for an element with a maximum height, and whether its content is higher. */
export function useIsCut<Kind extends HTMLElement>(): readonly [RefObject<Kind | null>, boolean] {
  const element = useRef<Kind>(null)
  const [isCut, setIsCut] = useState(false)
  // After each render: the content may have changed. The observer reports lines that wrap differently.
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = () => setIsCut(current.scrollHeight > current.clientHeight)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  })
  return [element, isCut]
}
