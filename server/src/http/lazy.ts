/** Runs `create` on the first call and reuses the result. A failure is not cached: the next call runs it again. */
export function lazy<T>(create: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => {
    result ??= create().catch((error) => {
      result = undefined
      throw error
    })
    return result
  }
}
