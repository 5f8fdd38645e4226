// A commit can change thousands of files, and every row repeats its message, so one parameter must not hold them all.
const chunkSize = 500

export function inChunks<T>(items: T[]): T[][] {
  const count = Math.ceil(items.length / chunkSize)
  return Array.from({ length: count }, (_, i) => items.slice(i * chunkSize, (i + 1) * chunkSize))
}
