import { invalid } from '../../domain/errors.ts'
import { changeSides, type SideOfChange } from '../../domain/impact/reading/change-signals.ts'
import {
  type SelectedSignals,
  type SignalSelectionStores,
  selectSignals,
} from '../../domain/impact/reading/signal-selection.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type ContentFilter, contentFilter } from '../../domain/signals/content-filter.ts'
import { signalValues } from '../../domain/signals/signal.ts'
import type { Instant } from '../../domain/time.ts'
import { checkTimeRange, enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'

/** Reads the filters of a query. */
export async function readSignalFilter(
  stores: SignalSelectionStores,
  prompt: Prompt,
  query: Query,
  now: Instant,
): Promise<SelectedSignals> {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  const value = enumParameter(query, 'value', signalValues)
  const version = lastValue(query.version) || null
  const content = parseContentFilter(query)
  return selectSignals(stores, prompt, { since, until, value, version, content, side: parseSide(query) }, now)
}

function parseSide(query: Query): SideOfChange | null {
  const side = enumParameter(query, 'side', changeSides)
  const change = lastValue(query.change)
  if (change === undefined) {
    if (side !== null) throw invalid('side needs change, the ID of the history entry that it is a side of')
    return null
  }
  if (side === null) throw invalid('change needs side, which must be one of before, after')
  if (!/^[1-9]\d{0,14}$/.test(change)) throw invalid('change must be the ID of a history entry, such as 27')
  return { entryId: Number(change), side }
}

const memberPrefix = 'metadata.'

function parseContentFilter(query: Query): ContentFilter | null {
  const members = Object.entries(query)
    .filter(([name]) => name.startsWith(memberPrefix))
    .map(([name, values]): [string, string] => [name.slice(memberPrefix.length), lastValue(values) ?? ''])
  return contentFilter({
    hasComment: enumParameter(query, 'comment', ['any']) !== null,
    commentPart: lastValue(query.q) || null,
    members,
  })
}
