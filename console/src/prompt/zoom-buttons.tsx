import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from 'lucide-react'
import { minZoomMs } from './time-range.ts'

interface Props {
  span: [number, number]
  now: number
  isZoomed: boolean
  onZoom: (from: number, to: number) => void
  onReset: () => void
}

// A chart of this length has decades.
const maxZoomMs = 20 * 365 * 86_400_000

/** Zooms and moves the chart without a pointer. */
export function ZoomButtons({ span: [from, to], now, isZoomed, onZoom, onReset }: Props) {
  const length = to - from
  const zoom = (factor: number) => {
    const half = Math.min(maxZoomMs, length * factor) / 2
    const end = Math.min(now, (from + to) / 2 + half)
    onZoom(end - 2 * half, end)
  }
  const move = (part: number) => {
    const end = Math.min(now, to + length * part)
    onZoom(end - length, end)
  }
  return (
    <fieldset className="zoom-buttons">
      <legend className="visually-hidden">Zoom</legend>
      {isZoomed && (
        <button type="button" className="text-button" onClick={onReset}>
          Reset zoom
        </button>
      )}
      <button type="button" className="icon-button" aria-label="Earlier" title="Earlier" onClick={() => move(-0.5)}>
        <ChevronLeft aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Later"
        title="Later"
        aria-disabled={to >= now}
        onClick={() => to < now && move(0.5)}
      >
        <ChevronRight aria-hidden="true" />
      </button>
      <button type="button" className="icon-button" aria-label="Zoom out" title="Zoom out" onClick={() => zoom(2)}>
        <ZoomOut aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Zoom in"
        title="Zoom in"
        aria-disabled={length <= 2 * minZoomMs}
        onClick={() => length > 2 * minZoomMs && zoom(0.5)}
      >
        <ZoomIn aria-hidden="true" />
      </button>
    </fieldset>
  )
}
