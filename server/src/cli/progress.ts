import { formatNumber, visible } from './output.ts'

const eraseLine = '\r\x1b[K'

/** Replaces the progress line on the terminal. Silent when stderr is not a terminal. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(eraseLine + visible(text))
}

export function clearProgress(): void {
  showProgress('')
}

const barWidth = 30

/** `share` is a number from 0 to 1. */
export function bar(share: number): string {
  const filled = Math.min(barWidth, Math.round(share * barWidth))
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`
}

const refreshIntervalMs = 100

/** Starts a progress bar and returns the function that advances it. */
export function startProgress(task: string, total: number, unit: string): (more: number) => void {
  let done = 0
  let shownAt = 0
  return (more) => {
    done += more
    if (performance.now() - shownAt < refreshIntervalMs) return
    shownAt = performance.now()
    const counts = `${formatNumber(done)} of ${formatNumber(total)} ${unit}`
    showProgress(`${task} ${bar(total === 0 ? 1 : done / total)} ${counts}`)
  }
}
