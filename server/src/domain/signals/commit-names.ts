import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import type { SignalStore } from './signal.ts'
import { minShaLength, parseVersion, shaLength, type VersionText } from './version.ts'

export interface CommitNameStores {
  history: Pick<HistoryStore, 'landedChanges'>
  signals: Pick<SignalStore, 'versionsStartingWith'>
}

/**
 * The versions that a filter on this one selects: the same commit may be recorded in full and abbreviated. As in impact, an
 * abbreviation has to be unique among the known commits, which are those of the history and those recorded in full. Otherwise only the
 * version itself is selected.
 */
export async function namesOfVersion(
  { history, signals }: CommitNameStores,
  prompt: Prompt,
  version: VersionText,
): Promise<VersionText[]> {
  const parsed = parseVersion(version)
  if (parsed.kind !== 'commit') return [version]
  const recorded = await signals.versionsStartingWith(prompt, version.slice(0, minShaLength))
  if (recorded === null || recorded.every((each) => each === version)) return [version]
  const landed = (await history.landedChanges(prompt)).map(({ commitSha }) => commitSha)
  const known = new Set([...landed, ...[...recorded, version].filter(({ length }) => length === shaLength)])
  const commitOf = (name: string): string | null => {
    const [commit, ...others] = [...known].filter((sha) => sha.startsWith(name))
    return commit === undefined || others.length > 0 ? null : commit
  }
  const commit = commitOf(version)
  if (commit === null) return [version]
  return [...new Set([version, ...recorded.filter((name) => commitOf(name) === commit)])]
}
