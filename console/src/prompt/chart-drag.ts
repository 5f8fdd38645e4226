import { type PointerEvent, useEffect, useState } from 'react'

const minDragPx = 6

/** Selecting a part of the chart with a mouse or pen. A finger scrolls the page: on a touch screen, buttons zoom. */
export function useDrag(onSelect: (fromX: number, toX: number) => void) {
  const [drag, setDrag] = useState<{ startX: number; x: number } | null>(null)
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return
    const cancel = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setDrag(null)
    }
    window.addEventListener('keydown', cancel)
    return () => window.removeEventListener('keydown', cancel)
  }, [isDragging])
  const selection = drag && ([Math.min(drag.startX, drag.x), Math.max(drag.startX, drag.x)] as const)
  return {
    selection: selection && selection[1] - selection[0] >= minDragPx ? selection : null,
    start(event: PointerEvent<SVGSVGElement>) {
      const isOnMarker = (event.target as Element).closest('.chart-marker') !== null
      if (event.button !== 0 || event.pointerType === 'touch' || isOnMarker) return
      event.preventDefault()
      event.currentTarget.setPointerCapture(event.pointerId)
      const x = pointerX(event)
      setDrag({ startX: x, x })
    },
    move(event: PointerEvent<SVGSVGElement>) {
      const x = pointerX(event)
      setDrag((current) => current && { ...current, x })
    },
    end() {
      if (selection !== null && selection[1] - selection[0] >= minDragPx) onSelect(...selection)
      setDrag(null)
    },
    cancel: () => setDrag(null),
  }
}

export function pointerX(event: PointerEvent<SVGSVGElement>): number {
  return event.clientX - event.currentTarget.getBoundingClientRect().left
}
