// Field names are those of the API, so that the API, its documentation and this client share one vocabulary.
import type {
  Action,
  PageQuery,
  Pagination,
  SignalQuery,
  TimelineQuery as WireTimelineQuery,
} from './generated/types.ts'

export type * from './generated/types.ts'
export type { Time } from './time.ts'

/** One page of a list. */
export interface Page<Item> {
  data: Item[]
  pagination: Pagination
}

/** Which signals to list or export. */
export type SignalFilter = Omit<SignalQuery, keyof PageQuery>

/** Which entries of a timeline to list. */
export interface TimelineQuery extends Omit<WireTimelineQuery, 'action'> {
  /** Only entries with one of these actions. The client joins them with commas, as the API expects. */
  action?: Action[] | undefined
}
