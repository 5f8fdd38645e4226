import { readFileSync } from 'node:fs'

const pageBytes = 4096

/**
 * The private memory of a process and its descendants, in bytes. Files that git maps, such as packs, do not count: the
 * system can drop their pages. 0 where the system has no /proc.
 */
export function memoryOf(pid: number): number {
  return descendants(pid).reduce((total, each) => total + privateBytes(each), 0)
}

function privateBytes(pid: number): number {
  const [, resident = 0, shared = 0] = read(`/proc/${pid}/statm`).split(' ').map(Number)
  return (resident - shared) * pageBytes
}

function descendants(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(descendants)]
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended.
    return ''
  }
}
