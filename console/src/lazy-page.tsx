import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { whenOnline } from './connection.ts'

const storageKey = 'promptledger-reloaded-at'
const minIntervalMs = 30_000

/** A page whose code is loaded when someone first opens it. */
export function lazyPage<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load().catch(reloadOnce) }))
}

/**
 * After an upgrade, the server no longer has the files of the page that is still open. The new page names its new files, so a
 * reload helps; if it just did not, the error is shown instead.
 */
async function reloadOnce(error: unknown): Promise<never> {
  await whenOnline()
  const reloadedAt = Number(sessionStorage.getItem(storageKey) ?? 0)
  if (Date.now() - reloadedAt < minIntervalMs) throw error
  sessionStorage.setItem(storageKey, String(Date.now()))
  window.location.reload()
  // The page ends before this matters.
  return new Promise(() => {})
}
