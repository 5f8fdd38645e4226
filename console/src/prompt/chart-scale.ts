/** Where the parts of the chart are, in pixels. */
export interface ChartLayout {
  width: number
  height: number
  left: number
  right: number
  plot: { top: number; bottom: number }
  bars: { top: number; bottom: number }
}

/** Height of the strip above the plot that holds the markers. */
export const markerStripHeight = 28

const narrow = { plot: 132, bars: 30 }
const wide = { plot: 190, bars: 44 }

export function layoutOf(width: number): ChartLayout {
  const heights = width < 560 ? narrow : wide
  const top = markerStripHeight + 8
  const bottom = top + heights.plot
  const bars = { top: bottom + 14, bottom: bottom + 14 + heights.bars }
  return { width, height: bars.bottom + 24, left: 42, right: width - 10, plot: { top, bottom }, bars }
}

export interface ChartScale {
  x: (at: number) => number
  y: (share: number) => number
  timeAt: (x: number) => number
}

export function scaleOf(
  { left, right, plot }: ChartLayout,
  [from, to]: [number, number],
  [min, max]: [number, number],
): ChartScale {
  const perPixel = (to - from) / Math.max(1, right - left)
  return {
    x: (at) => left + (Math.min(Math.max(at, from), to) - from) / perPixel,
    y: (share) => plot.top + ((max - share) / (max - min)) * (plot.bottom - plot.top),
    timeAt: (x) => from + (Math.min(Math.max(x, left), right) - left) * perPixel,
  }
}

/** A grid line every 10%, or every 20% on a tall axis. */
export function gridShares([min, max]: [number, number]): number[] {
  const step = max - min > 0.55 ? 2 : 1
  const shares = []
  for (let tenth = Math.ceil(min * 10 - 1e-9); tenth <= max * 10 + 1e-9; tenth += step) shares.push(tenth / 10)
  return shares
}
