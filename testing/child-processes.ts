import { readdirSync, readFileSync } from 'node:fs'

/** The processes that this one has started and that still run. Read from /proc: a minimal Debian has no `ps`. Empty if the process has ended. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
      const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      return children.split(' ').filter(Boolean).map(Number)
    })
  } catch {
    return []
  }
}
