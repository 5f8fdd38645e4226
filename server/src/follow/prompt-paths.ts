import type { Edit } from '../domain/history/edit.ts'

export interface PathMove {
  promptId: number
  /** Null if another prompt has taken the path. */
  path: string | null
}

/** Tracks which prompt each path belongs to while commits are read in order. */
export interface PromptPaths {
  /** The prompt of a current or deleted file. */
  promptAt(path: string): number | undefined
  add(path: string, promptId: number): void
  move(from: string, to: string, promptId: number): void
  /** Returns the moves since the last call, to be stored. */
  takeMoves(): PathMove[]
  hasMoves(): boolean
  count(): number
}

export function trackPaths(known: ReadonlyMap<string, number>): PromptPaths {
  const byPath = new Map(known)
  let moves = new Map<number, string | null>()
  return {
    promptAt: (path) => byPath.get(path),
    add(path, promptId) {
      byPath.set(path, promptId)
    },
    move(from, to, promptId) {
      const displaced = byPath.get(to)
      if (displaced !== undefined && displaced !== promptId) moves.set(displaced, null)
      if (byPath.get(from) === promptId) byPath.delete(from)
      byPath.set(to, promptId)
      moves.set(promptId, to)
    },
    takeMoves() {
      const taken = [...moves].map(([promptId, path]) => ({ promptId, path }))
      moves = new Map()
      return taken
    },
    hasMoves: () => moves.size > 0,
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
