import type { Edit } from '../domain/history/edit.ts'
import type { Findings } from '../domain/history/facts.ts'

export type PathMove = NonNullable<Findings['paths']>[number]

/** Tracks which prompt each path belongs to while commits are read in order. */
export interface PromptPaths {
  /** The prompt of a current or deleted file. */
  promptAt(path: string): number | undefined
  /** Adds prompts that have no ID yet. Until `settle`, provisional ones below 0 stand for them. */
  addNew(paths: string[]): void
  /** The paths that were added since the last `settle`, where they were then. */
  newPaths(): string[]
  /** Replaces the provisional IDs, and returns by what. Takes the ID of each new path. */
  settle(ids: ReadonlyMap<string, number>): (promptId: number) => number
  move(from: string, to: string, promptId: number): void
  /** Returns the moves since the last call, to be stored. */
  takeMoves(): PathMove[]
  /** Whether a prompt has left one of these paths since the last `takeMoves`. */
  hasLeft(paths: string[]): boolean
  count(): number
}

export function trackPaths(known: ReadonlyMap<string, number>): PromptPaths {
  const byPath = new Map(known)
  let moves = new Map<number, string | null>()
  let left = new Set<string>()
  // By provisional ID: the path where the prompt was added, and its path now, which another prompt may have taken.
  let added = new Map<number, { first: string; current: string | null }>()
  const setCurrent = (promptId: number, path: string | null) => {
    const prompt = added.get(promptId)
    if (prompt !== undefined) prompt.current = path
  }
  return {
    promptAt: (path) => byPath.get(path),
    addNew(paths) {
      for (const path of paths) {
        const promptId = -1 - added.size
        added.set(promptId, { first: path, current: path })
        byPath.set(path, promptId)
      }
    },
    newPaths: () => [...added.values()].map(({ first }) => first),
    settle(ids) {
      const settled = new Map<number, number>()
      for (const [provisional, { first, current }] of added) {
        const promptId = ids.get(first) as number
        settled.set(provisional, promptId)
        if (current !== null) byPath.set(current, promptId)
      }
      moves = new Map([...moves].map(([promptId, path]) => [settled.get(promptId) ?? promptId, path]))
      added = new Map()
      return (promptId) => settled.get(promptId) ?? promptId
    },
    move(from, to, promptId) {
      const displaced = byPath.get(to)
      if (displaced !== undefined && displaced !== promptId) {
        moves.set(displaced, null)
        setCurrent(displaced, null)
      }
      setCurrent(promptId, to)
      left.add(from)
      if (byPath.get(from) === promptId) byPath.delete(from)
      byPath.set(to, promptId)
      moves.set(promptId, to)
    },
    takeMoves() {
      const taken = [...moves].map(([promptId, path]) => ({ promptId, path }))
      moves = new Map()
      left = new Set()
      return taken
    },
    hasLeft: (paths) => paths.some((path) => left.has(path)),
    count: () => byPath.size,
  }
}

/** The paths of the prompts after these edits. */
export function replayPaths(edits: Pick<Edit, 'promptId' | 'path' | 'oldPath'>[]): Map<string, number> {
  const byPath = new Map<string, number>()
  for (const { promptId, path, oldPath } of edits) {
    if (oldPath !== null && oldPath !== path && byPath.get(oldPath) === promptId) byPath.delete(oldPath)
    byPath.set(path, promptId)
  }
  return byPath
}
