import type { Place } from '../../deployments/live-line.ts'
import type { TimedChange } from '../../history/change.ts'
import { parseVersion, type VersionText } from '../../signals/version.ts'
import { countWhile } from '../../sorted.ts'
import { derivedFrom } from '../cache.ts'
import type { LivePeriods } from './live-periods.ts'
import type { LiveHistory } from './live-window.ts'

const minAbbreviation = 7

export interface ResolvedVersions {
  /** The versions that name each change, by the ID of its entry. */
  ofChange: Map<number, VersionText[]>
  /** The versions that name none, or that could name several. */
  unknown: VersionText[]
}

/** The commits whose place on the line decides which change a version names. */
export function commitsToPlace(changes: TimedChange[], versions: VersionText[]): string[] {
  const known = new Set(changes.map(({ commitSha }) => commitSha))
  return versions.flatMap((version) => {
    if (known.has(version)) return []
    const parsed = parseVersion(version)
    return parsed.kind === 'commit' ? [parsed.sha] : []
  })
}

/** The change that each version names. A version is never guessed: an abbreviation has to be unique. */
export function resolveVersions(
  changes: TimedChange[],
  versions: readonly VersionText[],
  places: Map<string, Place>,
  versionIn: LiveHistory['versionIn'],
): ResolvedVersions {
  const resolved: ResolvedVersions = { ofChange: new Map(), unknown: [] }
  if (versions.length === 0) return resolved
  const byId = new Map(changes.map((change) => [change.id, change]))
  const starts = abbreviationsOf(changes)
  const changeOf = (version: VersionText): TimedChange | null => {
    const parsed = parseVersion(version)
    if (parsed.kind === 'entry') return byId.get(parsed.id) ?? null
    if (parsed.kind === 'label') return null
    const place = places.get(parsed.sha) ?? { sha: parsed.sha, seq: null, orphanedAt: null }
    return versionIn(place) ?? starts(parsed.sha)
  }
  for (const version of versions) {
    const change = changeOf(version)
    if (change === null) {
      resolved.unknown.push(version)
      continue
    }
    const known = resolved.ofChange.get(change.id)
    if (known === undefined) resolved.ofChange.set(change.id, [version])
    else known.push(version)
  }
  return resolved
}

/** The last result for a history, which is the same as long as the versions are. */
interface LastResolved {
  versions?: readonly VersionText[]
  resolved?: ResolvedVersions
}

const newLastResolved = (): LastResolved => ({})

/** Like `resolveVersions`, without places of commits. */
export function namedChanges(
  { changes, live }: Pick<LivePeriods, 'changes' | 'live'>,
  versions: readonly VersionText[],
): ResolvedVersions {
  const last = derivedFrom(live, newLastResolved)
  const isSame =
    last.versions?.length === versions.length && versions.every((version, i) => version === last.versions?.[i])
  if (!isSame || last.resolved === undefined) {
    last.versions = versions
    last.resolved = resolveVersions(changes, versions, new Map(), live.versionIn)
  }
  return last.resolved
}

/** Every version that could name the change, for a lookup of its signals without reading all versions. */
export function versionsNaming(
  change: TimedChange,
  places: Place[],
  versionIn: LiveHistory['versionIn'],
): VersionText[] {
  const { id, commitSha } = change
  const abbreviations = Array.from({ length: commitSha.length - minAbbreviation }, (_, i) =>
    commitSha.slice(0, minAbbreviation + i),
  )
  const placed = places.filter((place) => versionIn(place)?.id === id).map(({ sha }) => sha)
  return [...new Set([`#${id}`, commitSha, ...abbreviations, ...placed])]
}

/** Finds the change whose commit starts like this; null if several do. */
function abbreviationsOf(changes: TimedChange[]): (start: string) => TimedChange | null {
  const sorted = changes.toSorted((a, b) => (a.commitSha < b.commitSha ? -1 : 1))
  return (start) => {
    const low = countWhile(sorted, ({ commitSha }) => commitSha < start)
    const found = sorted[low]
    if (found === undefined || !found.commitSha.startsWith(start)) return null
    const end = sorted.slice(low).findIndex(({ commitSha }) => !commitSha.startsWith(start))
    const matching = sorted.slice(low, end === -1 ? undefined : low + end)
    return matching.every(({ commitSha }) => commitSha === found.commitSha) ? (matching.at(-1) as TimedChange) : null
  }
}
