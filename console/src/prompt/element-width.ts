import { useLayoutEffect, useRef, useState } from 'react'

/** A ref for an element, and its current width in pixels. */
export function useElementWidth<Kind extends HTMLElement>() {
  const element = useRef<Kind>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    setWidth(current.clientWidth)
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return [element, width] as const
}
