/** Shows on a terminal how far something has come, over what stood there before. */
export function showProgress(text: string): void {
  // Back to the start of the line, over what stood there.
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

const width = 30

/** A bar that fills, for work of a known size. */
export function progressBar(done: number, total: number, unit: string): string {
  const filled = total === 0 ? width : Math.min(width, Math.round((done / total) * width))
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${total} ${unit}`
}
