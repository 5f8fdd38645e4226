import { getTestContext, type TestContext } from 'node:test'

type Cleanup = () => unknown

const pending = new WeakMap<object, Cleanup[]>()

/**
 * Runs `cleanup` when the current test or suite ends, passed or failed. The last one registered runs first, so a service stops
 * before its database is dropped. Outside the test runner (bench, faults) this does nothing.
 */
export function onTestEnd(cleanup: Cleanup): void {
  // A suite's context has `after` too; its type does not say so.
  const context = getTestContext() as TestContext | undefined
  if (context === undefined) return
  const registered = pending.get(context)
  if (registered !== undefined) {
    registered.push(cleanup)
    return
  }
  const cleanups = [cleanup]
  pending.set(context, cleanups)
  context.after(async () => {
    const failures: unknown[] = []
    for (const each of cleanups.reverse()) {
      try {
        await each()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `cleanup failed: ${failures.join('; ')}`)
  })
}

/** Registers `close` for the end of the test, and returns a function that closes earlier. It runs at most once. */
export function closeOnTestEnd(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined
  const closeOnce = () => {
    closed ??= close()
    return closed
  }
  onTestEnd(closeOnce)
  return closeOnce
}
