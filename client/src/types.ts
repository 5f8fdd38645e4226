// Field names are those of the API, so that the API, its documentation and this client share one vocabulary.
import type {
  Action,
  ExportFormat,
  ModelChange,
  PageQuery,
  Pagination,
  PromptVersion,
  SearchPagination,
  Signal,
  SignalSearch,
  SignalsOfChange,
  TextMatch,
  TextSearch,
  UnknownVersions,
  ExportQuery as WireExportQuery,
  SignalQuery as WireSignalQuery,
  TimelineQuery as WireTimelineQuery,
} from './generated/types.ts'

export type * from './generated/types.ts'

/** One page of a list. */
export interface Page<Item> {
  data: Item[]
  pagination: Pagination
}

/** One page of changes, and the signals that count for none of them because they name an unknown version. */
export interface AttributedPage<Item> extends Page<Item> {
  unknown_versions: UnknownVersions
  /** Only of a timeline, and only with `model_changes`. */
  model_changes?: ModelChange[]
}

/** One page of versions. `complete` says whether all of them were searched. */
export interface VersionPage extends Page<PromptVersion> {
  complete: boolean
}

/**
 * One page of signals. With a filter on comments or metadata, `search` says how far the service has searched. With `change`,
 * `change` says how many signals its impact counts.
 */
export interface SignalPage {
  data: Signal[]
  pagination: SearchPagination
  search?: SignalSearch
  change?: SignalsOfChange
}

/** One page of a search in texts. `search` says how far the service has searched. */
export interface TextPage {
  data: TextMatch[]
  pagination: SearchPagination
  search: TextSearch
}

/** Members that the metadata of a signal must have. */
interface MetadataFilter {
  metadata?: Record<string, string> | undefined
}

/** Which signals to list. Iterating a search continues it to its end. */
export type SignalQuery = WireSignalQuery & MetadataFilter

export type ExportQuery = WireExportQuery & MetadataFilter

/** Which signals to list or export. */
export type SignalFilter = Omit<SignalQuery, keyof PageQuery | 'cursor'>

/** Which entries of a timeline to list. */
export interface TimelineQuery extends Omit<WireTimelineQuery, 'action'> {
  /** Only entries with one of these actions. The client joins them with commas, as the API expects. */
  action?: Action[] | undefined
}

/** Which entries of a timeline to export, and as what. */
export type TimelineExportQuery = Omit<TimelineQuery, keyof PageQuery> & { format?: ExportFormat | undefined }
