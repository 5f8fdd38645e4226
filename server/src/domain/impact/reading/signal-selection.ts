import type { Prompt } from '../../prompt.ts'
import { type CommitNameStores, namesOfVersion } from '../../signals/commit-names.ts'
import type { ContentFilter } from '../../signals/content-filter.ts'
import { type CountedSignals, contentOfCounted } from '../../signals/counted-signals.ts'
import type { SignalFilter } from '../../signals/signal.ts'
import { queriedVersion } from '../../signals/version.ts'
import type { Instant } from '../../time.ts'
import { type ChangeSignalStores, type SideOfChange, signalsOfChange } from './change-signals.ts'

/** Which signals a reader asks for. Null stands for all. */
export interface SignalSelection extends Pick<SignalFilter, 'since' | 'until' | 'value'> {
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
