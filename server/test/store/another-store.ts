import { onTestEnd } from '../../../testing/cleanup.ts'
import { openTestStore } from '../../../testing/service.ts'
import type { Store } from '../../src/domain/store.ts'

/** Opens the database a second time, like another process would, until the test ends. */
export async function openAnotherStore(url: string, clock?: () => number): Promise<Store> {
  const store = await openTestStore(url, clock)
  onTestEnd(() => store.close())
  return store
}
