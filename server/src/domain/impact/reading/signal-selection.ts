import type { HistoryStore } from '../../history/history.ts'
import type { Prompt } from '../../prompt.ts'
import type { ContentFilter } from '../../signals/content-filter.ts'
import { type CountedSignals, contentOfCounted } from '../../signals/counted-signals.ts'
import type { SignalFilter, SignalStore } from '../../signals/signal.ts'
import { minShaLength, parseVersion, queriedVersion, shaLength, type VersionText } from '../../signals/version.ts'
import type { Instant } from '../../time.ts'
import { type ChangeSignalStores, type SideOfChange, signalsOfChange } from './change-signals.ts'

/** Which signals a reader asks for. Null stands for all. */
interface SignalSelection extends Pick<SignalFilter, 'since' | 'until' | 'value'> {
  version: string | null
  content: ContentFilter | null
  side: SideOfChange | null
}

export interface SelectedSignals {
  filter: SignalFilter & { content: ContentFilter | null }
  /** The signals that one side of a change counts, if they are asked for. */
  counted: (SideOfChange & CountedSignals) | null
  /** Whether no sums exist for the filter, so that signals have to be examined. */
  isSearch: boolean
}

export type SignalSelectionStores = CommitNameStores & ChangeSignalStores

/** Makes a selection a filter. The stores tell what else its version is called, and which signals its change counts. */
export async function selectSignals(
  stores: SignalSelectionStores,
  prompt: Prompt,
  { since, until, value, version, content, side }: SignalSelection,
  now: Instant,
): Promise<SelectedSignals> {
  const versions = version === null ? null : await namesOfVersion(stores, prompt, queriedVersion(version))
  const filter = { value, since, until, versions, content }
  if (side === null) return { filter, counted: null, isSearch: content !== null }
  const counted = { ...side, ...(await signalsOfChange(stores, prompt, side, now)) }
  const isSearch = content !== null || since !== null || until !== null || versions !== null
  return { filter: { ...filter, content: contentOfCounted(counted, content) }, counted, isSearch }
}

interface CommitNameStores {
  history: Pick<HistoryStore, 'landedChanges'>
  signals: Pick<SignalStore, 'versionsStartingWith'>
}

/**
 * The versions that a filter on this one selects: the same commit may be recorded in full and abbreviated. As in impact, an
 * abbreviation has to be unique among the known commits, which are those of the history and those recorded in full. Otherwise only the
 * version itself is selected.
 */
async function namesOfVersion(
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
