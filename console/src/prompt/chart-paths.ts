import type { Point } from './chart-points.ts'

type X = (point: Point) => number
type Y = (share: number) => number

export function linePath(run: Point[], x: X, y: Y): string {
  // A single point has no line. A short dash keeps it visible.
  if (run.length === 1) {
    const [point] = run as [Point]
    return `M${x(point) - 2},${y(point.share?.value ?? 0)}h4`
  }
  return `M${run.map((point) => `${x(point)},${y(point.share?.value ?? 0)}`).join('L')}`
}

/** The outline of the confidence range: along its upper limits, and back along the lower ones. */
export function bandPath(run: Point[], x: X, y: Y): string {
  const at = (point: Point, limit: 'low' | 'high') => `${x(point)},${y(point.share?.[limit] ?? 0)}`
  const upper = run.map((point) => at(point, 'high'))
  const lower = run.toReversed().map((point) => at(point, 'low'))
  return `M${[...upper, ...lower].join('L')}Z`
}
