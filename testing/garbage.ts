import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: ((options: { type: 'minor' | 'major' }) => void) | undefined

/** A minor collection takes a fiftieth of the time, and is enough for objects that were created since the last one. */
export function collectGarbage(type: 'minor' | 'major'): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as NonNullable<typeof collect>
  }
  collect({ type })
}
